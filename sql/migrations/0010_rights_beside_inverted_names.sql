-- Sales rights of a record with an inverted name of a publisher were withheld, all of them. The service knows that name
-- now. Products whose records have one, and which have no rights, get the rights that a record that is imported now would
-- give them: else the rights would seem to have been removed by a user. Rights with anything that this migration does not
-- read stay withheld.
insert into product_sales_rights (
  organization_id, product_id, position, sales_rights_type, is_rest_of_world,
  countries_included, countries_excluded, regions_included, regions_excluded, publisher_name
)
with records as (
  select
    n.organization_id, n.product_id,
    regexp_replace(
      substring(n.record from '<PublishingDetail(?: [^>]*)??>.*?</PublishingDetail>'), '<([A-Za-z]+) [^>]*>', '<\1>', 'g'
    ) as publishing
  from onix_records n
  where n.record ~ '<SalesRights[ >].*<PublisherNameInverted[ >]' and not exists (
    select from product_sales_rights r
    where r.organization_id = n.organization_id and r.product_id = n.product_id
  )
), rights as (
  select
    n.organization_id, n.product_id, m.position - 1 as position, false as is_rest_of_world,
    btrim(substring(m.found[1] from '<SalesRightsType>([^<]*)<')) as type,
    regexp_split_to_array(btrim(substring(m.found[1] from '<CountriesIncluded>([^<]*)<')), '\s+') as countries_included,
    regexp_split_to_array(btrim(substring(m.found[1] from '<CountriesExcluded>([^<]*)<')), '\s+') as countries_excluded,
    regexp_split_to_array(btrim(substring(m.found[1] from '<RegionsIncluded>([^<]*)<')), '\s+') as regions_included,
    regexp_split_to_array(btrim(substring(m.found[1] from '<RegionsExcluded>([^<]*)<')), '\s+') as regions_excluded,
    btrim(replace(replace(replace(
      substring(m.found[1] from '<PublisherName>([^<]*)<'), '&lt;', '<'), '&gt;', '>'), '&amp;', '&'
    )) as publisher_name,
    m.found[1] like '%<PublisherNameInverted>%' as has_inverted_name,
    -- What is left without the elements that are read, or only add something.
    regexp_replace(
      m.found[1],
      '<Territory>(?:<((?:Countries|Regions)(?:In|Ex)cluded)>[^<]*</\1>)+</Territory>|' ||
        '<ProductIdentifier>(?:<([A-Za-z]+)>[^<]*</\2>)+</ProductIdentifier>|' ||
        '<(SalesRightsType|PublisherName|PublisherNameInverted)>[^<]*</\3>', '', 'g'
    ) as others
  from records n
  cross join regexp_matches(n.publishing, '<SalesRights>(.*?)</SalesRights>', 'g') with ordinality m (found, position)
  union all
  select
    n.organization_id, n.product_id, 500, true, btrim(m.found[1]), null, null, null, null, null, false, ''
  from records n
  cross join regexp_matches(n.publishing, '<ROWSalesRightsType>([^<]*)<', 'g') m (found)
)
select
  r.organization_id, r.product_id, r.position, r.type, r.is_rest_of_world,
  r.countries_included, r.countries_excluded, r.regions_included, r.regions_excluded, r.publisher_name
from rights r
join (
  select o.organization_id, o.product_id
  from rights o
  left join onix_codes t on t.list = 46 and t.code = o.type
  group by o.organization_id, o.product_id
  having bool_or(o.has_inverted_name) and count(*) <= 500 and bool_and(
    o.others = '' and t.code is not null and length(coalesce(o.publisher_name, '')) <= 500 and
    (o.is_rest_of_world or o.countries_included is not null or o.regions_included is not null) and
    coalesce(not o.countries_included && o.countries_excluded, true) and
    coalesce(not o.regions_included && o.regions_excluded, true) and
    not exists (
      select from unnest(coalesce(o.countries_included, '{}') || coalesce(o.countries_excluded, '{}')) c (code)
      where not exists (select from onix_codes k where k.list = 91 and k.code = c.code and k.code <> 'ROW')
    ) and not exists (
      select from unnest(coalesce(o.regions_included, '{}') || coalesce(o.regions_excluded, '{}')) c (code)
      where not exists (select from onix_codes k where k.list = 49 and k.code = c.code)
    )
  )
) complete on complete.organization_id = r.organization_id and complete.product_id = r.product_id;
