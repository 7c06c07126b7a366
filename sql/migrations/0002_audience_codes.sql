-- AudienceCode of ONIX 3.0 is an audience of its product from now on. Products whose records have such codes get those
-- that they lack, before their other audiences, as a record that is imported now would have them.
update products p
set audiences = r.codes || coalesce(p.audiences, '[]')
from (
  select
    n.organization_id, n.product_id,
    jsonb_agg(
      jsonb_build_object('audience_code_type', '01', 'audience_code_value', c.code[1]) order by c.position
    ) as codes
  from onix_records n
  join products o on o.organization_id = n.organization_id and o.id = n.product_id
  cross join regexp_matches(n.record, '<AudienceCode(?: [^>]*)?>\s*(0[1-9]|1[1-4])\s*</AudienceCode>', 'g')
    with ordinality as c (code, position)
  where n.record like '%<AudienceCode%'
    and not coalesce(o.audiences, '[]') @> jsonb_build_array(
      jsonb_build_object('audience_code_type', '01', 'audience_code_value', c.code[1])
    )
  group by n.organization_id, n.product_id
) r
where p.organization_id = r.organization_id and p.id = r.product_id;
