-- Features of the form, such as accessibility, are a field of products from now on, and the person of a TextSource is
-- the author of a text. Products whose records have such elements get the values that a record that is imported now
-- would give them: else their messages would lose what the product does not have.
alter table products add column product_form_features entries;

-- Versions of products have had none. Whoever reads one expects the field.
update product_documents
set details = replace(details, ',"edition_types":', ',"product_form_features":[],"edition_types":')
where details like '%,"edition_types":%';

update products p
set product_form_features = replace(replace(replace(r.features::text, '&lt;', '<'), '&gt;', '>'), '&amp;', '&')::jsonb
from (
  select f.organization_id, f.product_id, jsonb_agg(
    jsonb_strip_nulls(jsonb_build_object(
      'product_form_feature_type', f.type,
      'product_form_feature_value', f.value,
      'product_form_feature_descriptions', f.descriptions
    )) order by f.position
  ) as features
  from (
    select distinct on (e.organization_id, e.product_id, e.type, e.value) e.*
    from (
      select
        n.organization_id, n.product_id, m.position, d.descriptions,
        substring(m.found[1] from '<ProductFormFeatureType[^>]*>([^<]+)<') as type,
        substring(m.found[1] from '<ProductFormFeatureValue[^>]*>([^<]+)<') as value
      from onix_records n
      cross join regexp_matches(
        -- The parts of a product have features of their own.
        regexp_replace(
          regexp_replace(n.record, '<(ProductPart|ProductFormFeature) [^>]*>', '<\1>', 'g'),
          '<ProductPart>.*?</ProductPart>', '', 'g'
        ),
        '<ProductFormFeature>(.*?)</ProductFormFeature>', 'g'
      ) with ordinality m (found, position)
      cross join lateral (
        select jsonb_agg(x.found[1] order by x.position) as descriptions
        from regexp_matches(m.found[1], '<ProductFormFeatureDescription[^>]*>([^<]+)<', 'g')
          with ordinality x (found, position)
      ) d
      where n.record like '%<ProductFormFeature%'
    ) e
    left join (values
      ('01', 98), ('02', 98), ('04', 99), ('06', 176), ('09', 196), ('12', 143), ('13', 184), ('19', 242), ('26', 98),
      ('27', 98), ('55', 98), ('57', 98), ('58', 98), ('59', 98)
    ) l (type, list) on l.type = e.type
    left join onix_codes t on t.list = 79 and t.code = e.type
    left join onix_codes c on c.list = l.list and c.code = e.value
    where t.code is not null and (e.value is not null or e.descriptions is not null)
      and (e.value is null or l.list is null or c.code is not null)
    order by e.organization_id, e.product_id, e.type, e.value, e.position
  ) f
  group by f.organization_id, f.product_id
  having count(*) <= 500
) r
where p.organization_id = r.organization_id and p.id = r.product_id;

insert into product_terms (organization_id, product_id, field, term)
select distinct p.organization_id, p.id, 'accessibility_code', e ->> 'product_form_feature_value'
from products p
cross join jsonb_array_elements(p.product_form_features) e
where e ->> 'product_form_feature_type' = '09' and e ->> 'product_form_feature_value' is not null
on conflict do nothing;

-- A text of a product is that of its record in the same place, if both have as many.
update collateral t
set text_author = replace(replace(replace(s.author, '&lt;', '<'), '&gt;', '>'), '&amp;', '&')
from (
  select
    n.organization_id, n.product_id, m.position,
    count(*) over (partition by n.organization_id, n.product_id) as texts,
    coalesce(
      substring(m.found[1] from '<PersonName(?: [^>]*)?>([^<]+)<'),
      nullif(concat_ws(
        ' ', substring(m.found[1] from '<NamesBeforeKey[^>]*>([^<]+)<'),
        substring(m.found[1] from '<PrefixToKey[^>]*>([^<]+)<'), substring(m.found[1] from '<KeyNames[^>]*>([^<]+)<'),
        substring(m.found[1] from '<NamesAfterKey[^>]*>([^<]+)<'), substring(m.found[1] from '<SuffixToKey[^>]*>([^<]+)<')
      ), '')
    ) as author
  from onix_records n
  cross join regexp_matches(
    regexp_replace(
      substring(n.record from '<CollateralDetail>.*?</CollateralDetail>'), '<TextContent [^>]*>', '<TextContent>', 'g'
    ),
    '<TextContent>(.*?)</TextContent>', 'g'
  ) with ordinality m (found, position)
  where n.record like '%<TextSource>%'
) s
join (
  select
    c.organization_id, c.product_id, c.id,
    row_number() over (partition by c.organization_id, c.product_id order by c.position) as position,
    count(*) over (partition by c.organization_id, c.product_id) as texts
  from collateral c
  where c.collateral_type = 'text_content'
) o on o.organization_id = s.organization_id and o.product_id = s.product_id
  and o.position = s.position and o.texts = s.texts
where t.organization_id = o.organization_id and t.product_id = o.product_id and t.id = o.id
  and t.text_author is null and s.author is not null;

drop function if exists terms_of(jsonb, jsonb, jsonb);
