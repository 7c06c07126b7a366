-- The code lists, identical in every installation. The service runs this file again when it or code_lists.json changes.
-- The setting catalogue.codes passes the codes of the ONIX lists: a JSON array of list, code, label, whether it is
-- deprecated, and id if the list has a table of its own. An id is the version-5 UUID of `onix:<list>:<code>`, or
-- `lifecycle:<code>`, in the URL namespace of RFC 9562. Ids never change.
--
-- Products are written while the file runs. ON CONFLICT locks each row that it finds, and if it sets a key, writes that
-- refer to the row wait. So each statement leaves out what is there already, and sets no key.

-- ONIX List 17
insert into contributor_roles (id, code, name)
select c.id, c.code, c.label
from jsonb_to_recordset(current_setting('catalogue.codes')::jsonb) c (id uuid, list smallint, code text, label text)
where c.list = 17 and not exists (select from contributor_roles r where (r.id, r.name) = (c.id, c.label))
on conflict (id) do update set name = excluded.name;

-- ONIX List 64
insert into publishing_statuses (id, code, name)
select c.id, c.code, c.label
from jsonb_to_recordset(current_setting('catalogue.codes')::jsonb) c (id uuid, list smallint, code text, label text)
where c.list = 64 and not exists (select from publishing_statuses r where (r.id, r.name) = (c.id, c.label))
on conflict (id) do update set name = excluded.name;

-- ONIX List 65
insert into product_availabilities (id, code, name)
select c.id, c.code, c.label
from jsonb_to_recordset(current_setting('catalogue.codes')::jsonb) c (id uuid, list smallint, code text, label text)
where c.list = 65 and not exists (select from product_availabilities r where (r.id, r.name) = (c.id, c.label))
on conflict (id) do update set name = excluded.name;

-- ONIX List 150
insert into product_forms (id, code, name)
select c.id, c.code, c.label
from jsonb_to_recordset(current_setting('catalogue.codes')::jsonb) c (id uuid, list smallint, code text, label text)
where c.list = 150 and not exists (select from product_forms r where (r.id, r.name) = (c.id, c.label))
on conflict (id) do update set name = excluded.name;

-- The labels of every list. Codes that a later issue drops stay.
insert into onix_codes (list, code, label, deprecated)
select c.list, c.code, c.label, c.deprecated
from jsonb_to_recordset(current_setting('catalogue.codes')::jsonb)
  c (list smallint, code text, label text, deprecated boolean)
where not exists (
  select
  from onix_codes o
  where (o.list, o.code, o.label, o.deprecated) = (c.list, c.code, c.label, c.deprecated)
)
on conflict (list, code) do update set label = excluded.label, deprecated = excluded.deprecated;

-- Lifecycle status (not an ONIX list), in chronological order
insert into lifecycle_statuses (id, code, name)
select c.id, c.code, c.name
from (
  values
    ('3f4b19c3-c68d-5200-a9bd-fb3f721f611e'::uuid, 'in_development', 'In development'),
    ('ca178964-348a-5091-8f29-7b66245a46e0', 'forthcoming', 'Forthcoming'),
    ('32a77f6f-d320-5e69-ad14-4ddf65390f41', 'active', 'Active'),
    ('5e7642f0-7fca-57f5-9635-7030b08ff020', 'out_of_print', 'Out of print'),
    ('8a73f98c-9081-5508-8f5b-f38e48d9d329', 'archived', 'Archived')
) c (id, code, name)
where not exists (select from lifecycle_statuses r where (r.id, r.name) = (c.id, c.name))
on conflict (id) do update set name = excluded.name;
