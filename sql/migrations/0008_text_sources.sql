-- The organization that a text is by, and what its author is, are fields of texts from now on. Texts whose records have
-- such elements get the values that a record that is imported now would give them: else their messages would lose what
-- the product does not have.
alter table collateral add column text_source_corporate text;
alter table collateral add column text_source_description text;

-- Versions of texts have had none. Whoever reads one expects the fields.
update product_documents
set details = regexp_replace(
  details, '("text_author":(?:null|"(?:[^"\\]|\\.)*")),("source_title":)',
  '\1,"text_source_corporate":null,"text_source_description":null,\2', 'g'
)
where details like '%"text_author":%';

-- The first quantifier of an expression decides how much all of it matches, so that of attributes is `??` where the end is
-- the nearest one. A text of a product is that of its record with the same words, or else in the same place, if both have as many.
with texts as (
  select
    n.organization_id, n.product_id, m.position,
    count(*) over (partition by n.organization_id, n.product_id) as texts,
    substring(m.found[1] from '<Text(?: [^>]*)?>([^<]+)</Text>') as text,
    array_to_string(array(
      select s.found[1]
      from regexp_matches(m.found[1], '<TextSource(?: [^>]*)??>(.*?)</TextSource>', 'g') with ordinality s (found, position)
      where s.found[1] ~ '<(NameIdentifier|PersonName|PersonNameInverted|KeyNames|CorporateName|CorporateNameInverted)[ >]'
      order by s.position
    ), '') as sources,
    m.found[1] as content
  from onix_records n
  cross join regexp_matches(
    regexp_replace(
      substring(n.record from '<CollateralDetail>.*?</CollateralDetail>'), '<TextContent [^>]*>', '<TextContent>', 'g'
    ),
    '<TextContent>(.*?)</TextContent>', 'g'
  ) with ordinality m (found, position)
  where n.record like '%<TextSource%'
), found as (
  select
    t.organization_id, t.product_id, t.position, t.texts,
    replace(replace(replace(t.text, '&lt;', '<'), '&gt;', '>'), '&amp;', '&') as text,
    case
      when t.sources <> '' then coalesce(
        substring(t.sources from '<CorporateName(?: [^>]*)?>([^<]+)<'),
        substring(t.sources from '<CorporateNameInverted(?: [^>]*)?>([^<]+)<')
      )
      else substring(t.content from '<TextSourceCorporate(?: [^>]*)?>([^<]+)<')
    end as corporate,
    substring(
      case when t.sources <> '' then t.sources else t.content end
      from '<TextSourceDescription(?: [^>]*)??>(.+?)</TextSourceDescription>'
    ) as description
  from texts t
), matched as (
  select distinct on (c.organization_id, c.product_id, c.id)
    c.organization_id, c.product_id, c.id, f.corporate, f.description
  from (
    select
      c.organization_id, c.product_id, c.id, c.text,
      row_number() over (partition by c.organization_id, c.product_id order by c.position) as position,
      count(*) over (partition by c.organization_id, c.product_id) as texts
    from collateral c
    where c.collateral_type = 'text_content'
  ) c
  join found f on f.organization_id = c.organization_id and f.product_id = c.product_id
    and (f.text = c.text or f.position = c.position and f.texts = c.texts)
  order by
    c.organization_id, c.product_id, c.id, coalesce(f.text = c.text, false) desc,
    (f.position = c.position and f.texts = c.texts) desc, f.position
)
update collateral t
set
  text_source_corporate = replace(replace(replace(m.corporate, '&lt;', '<'), '&gt;', '>'), '&amp;', '&'),
  text_source_description = case
    -- Markup is stored as it is written.
    when m.description like '%<%' then m.description
    else replace(replace(replace(m.description, '&lt;', '<'), '&gt;', '>'), '&amp;', '&')
  end
from matched m
where t.organization_id = m.organization_id and t.product_id = m.product_id and t.id = m.id
  and (m.corporate is not null or m.description is not null);
