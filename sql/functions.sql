-- The triggers and functions of the database. Functions whose results are stored in tables and indexes are in
-- migrations/0001_schema.sql instead. `deno task migrate` and the start of the service run this file after the
-- migrations, if one of them is new or this file has changed. Its statements create or replace. To remove a function,
-- drop it at the end. An older release does not know a newer file, so a change that the service relies on needs a
-- migration as well. An empty line ends a statement.
--
-- Triggers maintain derived data for SQL outside the service. The service writes that data itself, in the same round
-- trip as the product, which costs less. It sets catalogue.writer to `service`, which disables the triggers with the
-- condition `by_sql`. The table of triggers at the end names the fault that each one prevents.
--
-- A function that begins with
--   move_     increases an updated_at or a names_version, so that stored JSON is built again
--   count_    maintains the totals of lists
--   index_    maintains the terms and the texts by which products are found
--   record_, remember_    write what the feeds of changes need, before the rows are gone
--
-- Most functions run as their owner: writing a table must not require rights on derived tables. They run with this
-- search_path, so that neither the writer's search_path nor temporary tables mislead them.
select set_config('search_path', format('%I, pg_temp', current_schema()), true);

-- Values of columns

-- What an array of values shows, without white space: single values if `shape` is `[]`, or else objects with the fields
-- of `shape` in their order, each with its default or the shape of an array within. SQL may have written anything.
create or replace function shown_values(entries jsonb, shape json) returns json
language plpgsql immutable strict parallel safe set search_path from current as $$
begin
  if jsonb_typeof(entries) <> 'array' then
    return '[]';
  end if;
  if json_typeof(shape) = 'array' then
    return (
      select '[' || coalesce(string_agg(e.entry::text, ',' order by e.place), '') || ']'
      from jsonb_array_elements(entries) with ordinality e (entry, place)
    );
  end if;
  return (
    select '[' || coalesce(string_agg(e.shown, ',' order by e.place), '') || ']'
    from (
      select
        e.place,
        (
          select '{' || string_agg(
            to_json(f.name) || ':' || case
              when json_typeof(f.shape) in ('object', 'array')
                then coalesce(shown_values(e.entry -> f.name, f.shape)::text, '[]')
              else coalesce(e.entry -> f.name, f.shape::jsonb)::text
            end,
            ',' order by f.place
          ) || '}'
          from json_each(shape) with ordinality f (name, shape, place)
        ) as shown
      from jsonb_array_elements(entries) with ordinality e (entry, place)
    ) e
  );
end $$;

-- Returns a value as a term of product_terms. A key of that table has at most 2704 bytes, so a hash replaces the rest
-- of a long value. The table stores the results: a change needs a migration that computes them again.
create or replace function term_of(value text) returns text
language sql immutable parallel safe
return case when length(value) > 200 then left(value, 200) || md5(value) else value end;

-- Returns the terms by which lists find a product, with the names of their filters.
create or replace function terms_of(
  languages jsonb, subjects jsonb, product_identifiers jsonb, product_form_features jsonb
)
returns table (field text, term text)
language sql immutable parallel safe as $$
  select distinct v.field, term_of(v.value)
  from (
    select 'language_code', e ->> 'language_code' from jsonb_array_elements(languages) e
    union all
    select 'subject_code', e ->> 'subject_code' from jsonb_array_elements(subjects) e
    union all
    select 'id_value', e ->> 'id_value' from jsonb_array_elements(product_identifiers) e
    union all
    select 'accessibility_code', e ->> 'product_form_feature_value'
    from jsonb_array_elements(product_form_features) e
    where e ->> 'product_form_feature_type' = '09'
  ) v (field, value)
  where v.value is not null
$$;

-- Returns the ISBNs of a product in the form that it lacks: the ISBN-10 of an ISBN-13 that begins with 978, and the
-- ISBN-13 of an ISBN-10. Null if it lacks none. A sum of ten terms in one expression would take PostgreSQL 60 us to
-- start.
create or replace function other_isbns(isbn13 text, isbn10 text) returns text
language plpgsql immutable parallel safe as $$
declare
  shorter text;
  longer text;
  total integer;
begin
  if left(isbn13, 12) = '978' || left(isbn10, 9) then
    return null;
  end if;
  if isbn13 ~ '^978\d{10}$' then
    total := 0;
    for i in 1..9 loop
      total := total + (11 - i) * substr(isbn13, 3 + i, 1)::int;
    end loop;
    shorter := substr(isbn13, 4, 9) || substr('0123456789x', 1 + (11 - total % 11) % 11, 1);
  end if;
  if isbn10 ~ '^\d{9}[\dXx]$' then
    -- The digits 978 count 38.
    total := 38;
    for i in 1..9 loop
      total := total + case i % 2 when 1 then 3 else 1 end * substr(isbn10, i, 1)::int;
    end loop;
    longer := '978' || left(isbn10, 9) || (10 - total % 10) % 10;
  end if;
  return nullif(concat_ws(E'\x1f', shorter, longer), '');
end $$;

-- Returns the texts of a product in product_search. `names` are the folded names of its contributors and collections.
-- U+001F between two parts keeps a word from matching across them.
create or replace function search_texts(
  title text, subtitle text, product_code text, isbn13 text, isbn10 text, product_identifiers jsonb, names text
)
returns table (search_text text, folded_title text, found_text text)
language sql immutable parallel safe as $$
  select
    k.key,
    k.title,
    concat_ws(
      E'\x1f', k.key, k.title, folded(subtitle), folded(product_code), other_isbns(isbn13, isbn10),
      (
        select string_agg(folded(e ->> 'id_value'), E'\x1f')
        from jsonb_array_elements(product_identifiers) e
      ),
      names
    )
  from (
    select
      search_key(
        title || E'\x1f' || product_code || E'\x1f' || coalesce(isbn13, '') || E'\x1f' || coalesce(isbn10, '')
      ) as key,
      folded(title) as title
    -- Keeps both from being computed twice.
    offset 0
  ) k
$$;

-- Products that SQL writes

-- Returns the new updated_at of a row: now, or a millisecond after the old value if that is later. After `infinity`, it
-- is now.
create or replace function next_version(version timestamptz) returns timestamptz
language sql stable
return greatest(now(), nullif(version, 'infinity') + interval '1 millisecond');

-- Increases the updated_at of a product or a record that SQL changes.
create or replace function move_product() returns trigger
language plpgsql set search_path from current as $$
begin
  new.updated_at := next_version(old.updated_at);
  return new;
end $$;

-- Increases the updated_at of products whose rows SQL writes, once per transaction: a product that the same transaction
-- has written already has a new updated_at. This update of products leaves nothing to do for triggers, so
-- catalogue.writer disables them.
create or replace function move_products() returns trigger
language plpgsql security definer set search_path from current as $$
declare
  writer constant text := current_setting('catalogue.writer', true);
begin
  perform set_config('catalogue.writer', 'service', true);
  case tg_op
    when 'INSERT', 'DELETE' then
      update products p set updated_at = next_version(p.updated_at)
      from (select distinct organization_id, product_id from rows) r
      where p.organization_id = r.organization_id and p.id = r.product_id
        and p.xmin <> pg_current_xact_id()::xid;
    when 'UPDATE' then
      update products p set updated_at = next_version(p.updated_at)
      from (
        select organization_id, product_id from old_rows
        union
        select organization_id, product_id from new_rows
      ) r
      where p.organization_id = r.organization_id and p.id = r.product_id
        and p.xmin <> pg_current_xact_id()::xid;
  end case;
  perform set_config('catalogue.writer', coalesce(writer, ''), true);
  if tg_table_name in ('product_contributors', 'product_collections') then
    case tg_op
      when 'INSERT', 'DELETE' then
        perform index_search(r.organization_id, array_agg(distinct r.product_id))
        from rows r
        group by r.organization_id;
      when 'UPDATE' then
        perform index_search(r.organization_id, array_agg(distinct r.product_id))
        from (
          select organization_id, product_id from old_rows
          union all
          select organization_id, product_id from new_rows
        ) r
        group by r.organization_id;
    end case;
  end if;
  return null;
end $$;

-- Names that products show

-- The stored JSON of a product has two versions. It is valid while its change_version is that of the product and its
-- names_version that of the organization. The latter increases when a displayed name changes. Reads check both.

-- Invalidates the stored JSON of organizations with a changed name, and queues the changed records. spread_renames()
-- propagates these to the products that show them in JSON or in ONIX.
create or replace function move_names() returns trigger
language plpgsql security definer set search_path from current as $$
declare
  times constant text[] := array['created_at', 'updated_at'];
  -- ONIX shows the whole record, JSON the name.
  unshown constant text[] := times || array[
    'names_before_key', 'key_names', 'person_name_inverted', 'is_organization', 'isni', 'orcid', 'biographical_note',
    'identifiers'
  ];
begin
  case tg_op
    when 'DELETE' then
      update organizations o set names_version = o.names_version + 1
      where o.id in (select organization_id from rows);
      insert into renames (organization_id, record_table, record_id)
      select organization_id, tg_table_name, id
      from rows
      on conflict (organization_id, record_table, record_id)
      do update set version = excluded.version, position = null;
    when 'UPDATE' then
      update organizations o set names_version = o.names_version + 1
      where o.id in (
        select n.organization_id
        from new_rows n
        join old_rows r on r.organization_id = n.organization_id and r.id = n.id
        where to_jsonb(n) - unshown <> to_jsonb(r) - unshown
      );
      insert into renames (organization_id, record_table, record_id)
      select n.organization_id, tg_table_name, n.id
      from new_rows n
      join old_rows r on r.organization_id = n.organization_id and r.id = n.id
      where to_jsonb(n) - times <> to_jsonb(r) - times
      on conflict (organization_id, record_table, record_id)
      do update set version = excluded.version, position = null;
      if tg_table_name in ('contributors', 'collections') then
        -- Their names stand in product_search. Waits for the transactions that are adding rows with the old name: their
        -- foreign keys have locked the record. Later rows wait for this lock.
        execute format(
          'select from %I r
          where (r.organization_id, r.id) in (
            select n.organization_id, n.id
            from new_rows n
            join old_rows o on o.organization_id = n.organization_id and o.id = n.id and o.name <> n.name
          )
          order by r.organization_id, r.id
          for update',
          tg_table_name
        );
      end if;
  end case;
  return null;
end $$;

-- Propagates changed records to the products that show them, for the next organization after this one: at most 500
-- records and `most` products. It runs after the change is committed, when every product that showed the old record is
-- visible. Returns the organization, or null after the last, and the number of records that progressed: none if another
-- process does the same.
create or replace function spread_renames(after uuid, most integer, out organization uuid, out records integer)
language plpgsql security definer set search_path from current as $$
declare
  item renames;
  items renames[] := '{}';
  ids uuid[];
  products uuid[] := '{}';
  -- When the record of each of them changed.
  versions bigint[] := '{}';
  -- Those of them that show the name of a contributor or collection, which product_search has.
  named uuid[] := '{}';
begin
  records := 0;
  select r.organization_id into organization
  from renames r
  where after is null or r.organization_id > after
  order by r.organization_id
  limit 1;
  if not found or not pg_try_advisory_xact_lock(hashtextextended('renames ' || organization, 0)) then
    return;
  end if;
  for item in
    select r.* from renames r where r.organization_id = organization order by r.record_table, r.record_id limit 500
  loop
    ids := array(
      select distinct u.product_id
      from record_uses u
      where u.organization_id = organization and u.record_table = item.record_table
        and u.record_id = item.record_id and (item.position is null or u.product_id > item.position)
      order by u.product_id
      limit most - cardinality(products)
    );
    products := products || ids;
    versions := versions || array_fill(item.version, array[cardinality(ids)]);
    if item.record_table in ('contributors', 'collections') then
      named := named || ids;
    end if;
    -- Null: its products are done.
    item.position := case when cardinality(products) = most then ids[cardinality(ids)] end;
    items := array_append(items, item);
    exit when cardinality(products) = most;
  end loop;
  perform from product_changes c
  where c.organization_id = organization and c.product_id = any (products)
  order by c.product_id
  for no key update;
  -- A product that was written after the record's change has followed already.
  update product_changes c set change_version = greatest(c.change_version, change_version())
  from (select u.id, max(u.version) as version from unnest(products, versions) u (id, version) group by u.id) u
  where c.organization_id = organization and c.product_id = u.id and c.change_version < u.version;
  if named <> '{}' then
    perform index_search(organization, named);
  end if;
  foreach item in array items loop
    -- A record that changes again meanwhile begins again. This does not wait for its writer, who may wait for a product
    -- of this transaction.
    perform from renames r
    where r.organization_id = organization and r.record_table = item.record_table and r.record_id = item.record_id
      and r.version = item.version
    for update skip locked;
    continue when not found;
    records := records + 1;
    if item.position is null then
      delete from renames r
      where r.organization_id = organization and r.record_table = item.record_table and r.record_id = item.record_id;
    else
      update renames r set position = item.position
      where r.organization_id = organization and r.record_table = item.record_table and r.record_id = item.record_id;
    end if;
  end loop;
end $$;

-- Invalidates all stored JSON after a change of a shared code list. Without the lock on the table, an organization that
-- is created before the change is committed would keep JSON with the old names. A transaction in REPEATABLE READ does
-- not see organizations that were created after its snapshot, so it cannot invalidate their JSON: it fails (40001) at
-- the row of change_origins, which mark_organization() has updated.
create or replace function move_shared_names() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  case tg_op
    when 'INSERT', 'DELETE' then
      if not exists (select from rows) then return null; end if;
    when 'UPDATE' then
      if not exists (select * from new_rows except select * from old_rows) then return null; end if;
  end case;
  lock table organizations in share row exclusive mode;
  perform from change_origins for share;
  update organizations o set names_version = o.names_version + 1;
  return null;
end $$;

-- Makes move_shared_names() fail in a transaction that does not see the new organization.
create or replace function mark_organization() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  update change_origins set place = place;
  return null;
end $$;

-- Counts

-- Maintains the counts when SQL inserts or deletes products. SQL counts in slots of its own, so that the service does
-- not wait for long transactions.
create or replace function count_products() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  insert into product_counts as c (organization_id, filter, value, slot, products)
  select r.organization_id, f.filter, f.value, 16 + pg_backend_pid() % 16,
    sum(r.products) * case tg_op when 'INSERT' then 1 else -1 end
  from (
    select
      organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id,
      count(*) as products
    from rows
    group by organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
  ) r
  cross join lateral (values
    ('organization_id', r.organization_id),
    ('publishing_status_id', r.publishing_status_id),
    ('lifecycle_status_id', r.lifecycle_status_id),
    ('product_availability_id', r.product_availability_id),
    ('format_id', r.format_id)
  ) f (filter, value)
  where f.value is not null
  group by r.organization_id, f.filter, f.value
  order by r.organization_id, f.filter, f.value
  on conflict (organization_id, filter, value, slot)
  do update set products = c.products + excluded.products;
  return null;
end $$;

-- Maintains the counts when SQL updates products.
create or replace function count_changed_products() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  insert into product_counts as c (organization_id, filter, value, slot, products)
  select r.organization_id, f.filter, f.value, 16 + pg_backend_pid() % 16, sum(r.products)
  from (
    select
      organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id,
      sum(by) as products
    from (
      select 1 as by, organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
      from new_rows
      union all
      select -1, organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
      from old_rows
    ) r
    group by organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
    having sum(by) <> 0
  ) r
  cross join lateral (values
    ('organization_id', r.organization_id),
    ('publishing_status_id', r.publishing_status_id),
    ('lifecycle_status_id', r.lifecycle_status_id),
    ('product_availability_id', r.product_availability_id),
    ('format_id', r.format_id)
  ) f (filter, value)
  where f.value is not null
  group by r.organization_id, f.filter, f.value
  having sum(r.products) <> 0
  order by r.organization_id, f.filter, f.value
  on conflict (organization_id, filter, value, slot)
  do update set products = c.products + excluded.products;
  return null;
end $$;

-- Terms

-- Maintains the terms when SQL inserts or updates products. A foreign key deletes those of deleted products.
create or replace function index_terms() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  case tg_op
    when 'INSERT' then
      insert into product_terms (organization_id, product_id, field, term)
      select n.organization_id, n.id, t.field, t.term
      from rows n
      cross join lateral terms_of(n.languages, n.subjects, n.product_identifiers, n.product_form_features) t
      on conflict do nothing;
    when 'UPDATE' then
      delete from product_terms x
      using new_rows n
      where x.organization_id = n.organization_id and x.product_id = n.id and (x.field, x.term) not in (
        select t.field, t.term from terms_of(n.languages, n.subjects, n.product_identifiers, n.product_form_features) t
      );
      insert into product_terms (organization_id, product_id, field, term)
      select n.organization_id, n.id, t.field, t.term
      from new_rows n
      cross join lateral terms_of(n.languages, n.subjects, n.product_identifiers, n.product_form_features) t
      where not exists (
        select
        from old_rows o
        where o.organization_id = n.organization_id and o.id = n.id
          and (o.languages, o.subjects, o.product_identifiers, o.product_form_features)
            is not distinct from (n.languages, n.subjects, n.product_identifiers, n.product_form_features)
      )
      on conflict do nothing;
  end case;
  return null;
end $$;

-- Search

-- Writes the searched texts of products of an organization. Locks their rows of product_changes, which every writer of
-- a product writes first, so that no text changes between reading and writing it.
create or replace function index_search(organization uuid, ids uuid[]) returns void
language plpgsql security definer set search_path from current as $$
begin
  perform from product_changes c
  where c.organization_id = organization and c.product_id = any (ids)
  order by c.product_id
  for no key update;
  insert into product_search as s (
    organization_id, product_id, created_at, publisher_id, imprint_id, search_text, title, found_text
  )
  select
    p.organization_id, p.id, p.created_at, p.publisher_id, p.imprint_id, t.search_text, t.folded_title, t.found_text
  from products p
  -- PostgreSQL does not inline a function whose argument is a subselect, and plans it anew at each call (0.5 ms).
  cross join lateral (
    select concat_ws(
      E'\x1f',
      (
        select string_agg(
          (select r.found_name from contributors r where r.organization_id = organization and r.id = x.contributor_id),
          E'\x1f'
        )
        from product_contributors x
        where x.organization_id = organization and x.product_id = p.id
      ),
      (
        select string_agg(
          (select r.found_name from collections r where r.organization_id = organization and r.id = x.collection_id),
          E'\x1f'
        )
        from product_collections x
        where x.organization_id = organization and x.product_id = p.id
      )
    ) as names
  ) n
  cross join lateral search_texts(
    p.title, p.subtitle, p.product_code, p.isbn13, p.isbn10, p.product_identifiers, n.names
  ) t
  where p.organization_id = organization and p.id = any (ids)
  order by p.id
  on conflict (organization_id, product_id) do update set
    created_at = excluded.created_at,
    publisher_id = excluded.publisher_id,
    imprint_id = excluded.imprint_id,
    search_text = excluded.search_text,
    title = excluded.title,
    found_text = excluded.found_text
  where (s.created_at, s.publisher_id, s.imprint_id, s.search_text, s.found_text) is distinct from
    (excluded.created_at, excluded.publisher_id, excluded.imprint_id, excluded.search_text, excluded.found_text);
end $$;

-- Writes the searched texts when SQL inserts or updates products.
create or replace function index_products() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  perform index_search(r.organization_id, array_agg(r.id))
  from rows r
  group by r.organization_id;
  return null;
end $$;

-- The feed of changes

-- Returns a name of the table of products that no other server, database or restored table has.
create or replace function catalogue_place() returns text
language sql stable
return (
  select c.system_identifier || '/' || d.oid || '/' || 'products'::regclass::oid
  from pg_control_system() c, pg_database d
  where d.datname = current_database()
);

-- Begins an origin: new versions are above `base`, which is above all existing ones. The base is part of the text of
-- change_version(), because looking it up would cost each write more than its index does. So this file does not contain
-- change_version().
create or replace function begin_origin(base bigint) returns void
language plpgsql as $$
begin
  delete from change_origins;
  insert into change_origins (place, base) values (catalogue_place(), begin_origin.base);
  execute format(
    'create or replace function change_version() returns bigint
    language sql stable
    return %s::bigint + pg_current_xact_id()::text::bigint',
    begin_origin.base
  );
end $$;

-- Refuses a change of a product that a later transaction has changed: the history and the feed would show the two
-- changes in the wrong order. For example, a script begins, a request changes a price, and the script changes the same
-- price. A transaction is as old as its first write.
create or replace function refuse_older(product uuid) returns void
language plpgsql as $$
begin
  raise exception 'A later transaction has changed the product "%": run this transaction again', product
    using errcode = 'serialization_failure',
      hint = 'Begin it with: lock table products in exclusive mode';
end $$;

-- Gives a product the version of the transaction that writes it.
create or replace function version_product() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  new.change_version = change_version();
  if tg_op = 'UPDATE' then
    if old.change_version > new.change_version then perform refuse_older(new.id); end if;
  elsif exists (
    -- A deletion, for example.
    select from product_documents d
    where d.organization_id = new.organization_id and d.product_id = new.id
      and d.change_version > new.change_version
  ) then
    perform refuse_older(new.id);
  end if;
  return new;
end $$;

-- Copies the times of changes to product_changes, which lists read as an index of products. The service relies on this
-- trigger too, except in a distributed database.
create or replace function record_changes() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  insert into product_changes as c (organization_id, product_id, updated_at, change_version)
  select r.organization_id, r.id, r.updated_at, r.change_version
  from rows r
  on conflict (organization_id, product_id)
  do update set
    updated_at = excluded.updated_at,
    -- A rename moves the version here alone.
    change_version = greatest(c.change_version, excluded.change_version)
  where c.updated_at <> excluded.updated_at or c.change_version < excluded.change_version;
  return null;
end $$;

-- The ONIX records stored alongside a product, by table, for its restoration after a deletion. Empty without a record.
create or replace function onix_beside(organization uuid, product uuid) returns jsonb
language sql stable set search_path from current as $$
  select case
    when exists (select from onix_records n where n.organization_id = organization and n.product_id = product)
      then jsonb_build_object(
        'onix_records', array(
          select to_jsonb(n) - 'reading' from onix_records n where n.organization_id = organization and n.product_id = product
        ),
        'onix_aliases', array(
          select to_jsonb(a) from onix_aliases a where a.organization_id = organization and a.product_id = product
        ),
        'onix_senders', array(
          select to_jsonb(s) - 'reading' from onix_senders s where s.organization_id = organization and s.product_id = product
        )
      )
    else '{}'
  end
$$;

-- Records the reference and the last version of a product that SQL deletes, before its ONIX records are deleted with
-- it.
create or replace function remember_product() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if old.change_version > change_version() then perform refuse_older(old.id); end if;
  insert into product_deletions (organization_id, product_id, record_reference)
  select n.organization_id, n.product_id, n.record_reference
  from onix_records n
  where n.organization_id = old.organization_id and n.product_id = old.id
  on conflict (organization_id, product_id) do update set record_reference = excluded.record_reference;
  insert into product_documents (
    organization_id, product_id, change_version, names_version, changed_at, event, summary, details, onix
  )
  select
    old.organization_id, old.id, change_version(), -1,
    greatest(
      date_trunc('milliseconds', now()),
      (
        select d.changed_at + interval '1 millisecond'
        from product_documents d
        where d.organization_id = old.organization_id and d.product_id = old.id
        order by d.change_version desc
        limit 1
      )
    ),
    'deleted', '', '',
    onix_beside(old.organization_id, old.id)
  on conflict (organization_id, product_id, change_version) do update set
    names_version = -1, event = 'deleted', summary = '', details = '', onix = excluded.onix;
  return old;
end $$;

-- Records the numbers of products that SQL deletes.
create or replace function remember_deletions() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  insert into product_deletions as d (organization_id, product_id, isbn13, product_code)
  select organization_id, id, isbn13, product_code
  from rows
  on conflict (organization_id, product_id) do update set
    change_version = excluded.change_version,
    deleted_at = excluded.deleted_at,
    isbn13 = excluded.isbn13,
    product_code = excluded.product_code;
  return null;
end $$;

-- Records which products SQL adds to publishing programs and removes from them, for the feeds of recipients.
create or replace function record_program_changes() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  insert into program_changes (organization_id, program_id, product_id)
  select r.organization_id, r.program_id, r.product_id
  from rows r
  on conflict (organization_id, program_id, product_id) do update set change_version = excluded.change_version;
  return null;
end $$;

-- Triggers

-- Refuses a statement for the reason that the trigger gives.
create or replace function refuse() returns trigger
language plpgsql as $$
begin
  raise exception '% of % is refused, since %', tg_op, tg_table_name, tg_argv[0] using errcode = 'feature_not_supported';
end $$;

-- No other role can use the functions in triggers of other tables.
revoke execute on function
  move_product(), move_products(), move_names(), move_shared_names(), mark_organization(), count_products(),
  count_changed_products(), version_product(), record_changes(), remember_deletions(), remember_product(),
  index_terms(), index_products(), index_search(uuid, uuid[]), spread_renames(uuid, integer), record_program_changes()
from public;

do $$
declare
  -- The service does the work of these triggers itself.
  by_sql constant text := 'current_setting(''catalogue.writer'', true) is distinct from ''service''';
  is_old constant text := 'new.updated_at < old.updated_at + interval ''1 millisecond''';
  has_new_key constant text := '(old.organization_id, old.id) is distinct from (new.organization_id, new.id)';
  refuse_key constant text :=
    'refuse(''copies know a product by organization_id and id: INSERT another one, and DELETE this one'')';
  refuse_truncate constant text := 'refuse(''no trigger sees its rows: DELETE them'')';

  -- The tables with rows of products.
  product_rows constant text[] := array(
    select c.relname
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'product_id'
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and c.relname not in (
        'product_changes', 'product_documents', 'product_deletions', 'product_search', 'product_terms',
        'publishing_program_products', 'program_changes', 'recipient_products', 'onix_sent'
      )
  );
  -- The tables of records whose names products show: they and their rows refer to these.
  records constant text[] := array(
    select distinct r.relname
    from pg_constraint f
    join pg_class r on r.oid = f.confrelid
    join pg_attribute a on a.attrelid = f.confrelid and a.attname = 'name'
    where f.contype = 'f' and r.relname <> 'products'
      and f.conrelid::regclass::text = any (product_rows || 'products'::text)
      and exists (select from pg_attribute o where o.attrelid = r.oid and o.attname = 'organization_id')
      and not exists (select from pg_attribute p where p.attrelid = r.oid and p.attname = 'product_id')
  );
  -- All records of organizations, also those that no product shows.
  dated_records constant text[] := array(
    select c.relname
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and a.attname in ('organization_id', 'id', 'name', 'updated_at')
    group by c.relname
    having count(*) = 4
  );
  code_lists constant text[] := array[
    'publishing_statuses', 'product_availabilities', 'product_forms', 'contributor_roles', 'lifecycle_statuses',
    'onix_codes'
  ];
  item record;
begin
  -- The products that show a record: they, or their rows, have a foreign key on it.
  execute 'create or replace view record_uses as ' || (
    select string_agg(
      format(
        'select organization_id, %L::text as record_table, %I as record_id, %I as product_id from %I where %2$I is not null',
        f.confrelid::regclass, a.attname,
        case f.conrelid when 'products'::regclass then 'id' else 'product_id' end, f.conrelid::regclass
      ),
      ' union all ' order by f.confrelid::regclass::text, f.conrelid::regclass::text, a.attname
    )
    from pg_constraint f
    join pg_attribute a on a.attrelid = f.conrelid and a.attnum = any (f.conkey) and a.attname <> 'organization_id'
    where f.contype = 'f' and f.confrelid::regclass::text = any (records)
      and f.conrelid::regclass::text = any (product_rows || 'products'::text)
  );

  -- A distributed database has no triggers (citus.sql).
  if to_regtype('distributed') is not null then return; end if;

  -- Creating a trigger blocks writers of its table. Those of products lock products first, and so does this, so that
  -- there are no deadlocks.
  lock table products in share row exclusive mode;

  for item in
    select
      t.name,
      t.event,
      t.each,
      t.function,
      format('%I.%I', current_schema(), relation) as relation,
      case
        when t.each = 'row' or t.event like '%truncate' then ''
        when t.event like '%insert' then 'referencing new table as rows'
        when t.event like '%delete' then 'referencing old table as rows'
        when t.function in ('record_changes()', 'index_products()') then 'referencing new table as rows'
        else 'referencing old table as old_rows new table as new_rows'
      end as referencing,
      coalesce('when (' || t.condition || ')', '') as condition
    from (values
      -- Without it, copies of the catalogue would keep a product under its old key.
      (array['products'], 'renumbered', 'before update of organization_id, id', 'row', has_new_key, refuse_key),
      -- Without it, products, rows and labels would disappear, and the feed, stored JSON and searches would keep them.
      (
        product_rows || code_lists || array['products', 'product_changes', 'product_search', 'product_terms'],
        'truncated', 'before truncate', 'statement', null, refuse_truncate
      ),

      -- Without it, SQL would change a product that keeps its ETag, and the old JSON would count as valid. An infinite
      -- time is replaced as well, because no later write could increase it.
      (array['products'], 'moved', 'before update', 'row',
        by_sql || ' and (' || is_old || ' or not isfinite(new.updated_at))', 'move_product()'),
      -- Without them, SQL that writes rows of a product would leave its ETag and its JSON as they were, and searches
      -- would not find its new contributors and collections.
      (product_rows, 'inserted', 'after insert', 'statement', by_sql, 'move_products()'),
      (product_rows, 'updated', 'after update', 'statement', by_sql, 'move_products()'),
      (product_rows, 'deleted', 'after delete', 'statement', by_sql, 'move_products()'),
      -- Without it, a record that SQL changes would keep the updated_at of its older state.
      (dated_records, 'moved', 'before update', 'row', by_sql || ' and ' || is_old, 'move_product()'),

      -- Without them, lists would show wrong totals after SQL that inserts, deletes or changes products.
      (array['products'], 'inserted', 'after insert', 'statement', by_sql, 'count_products()'),
      (array['products'], 'deleted', 'after delete', 'statement', by_sql, 'count_products()'),
      (array['products'], 'counted', 'after update', 'statement', by_sql, 'count_changed_products()'),
      -- Without them, filters by language, subject and identifier would not know what SQL has written.
      (array['products'], 'indexed', 'after insert', 'statement', by_sql, 'index_terms()'),
      (array['products'], 'indexed_again', 'after update', 'statement', by_sql, 'index_terms()'),
      -- Without them, `search` and `q` would find the old texts.
      (array['products'], 'searched', 'after insert', 'statement', by_sql, 'index_products()'),
      (array['products'], 'searched_again', 'after update', 'statement', by_sql, 'index_products()'),

      -- Without it, a product that SQL copies with its version could be older than the cursors of the feed, and never
      -- be listed after them.
      (array['products'], 'versioned', 'before insert', 'row', by_sql, 'version_product()'),
      -- Without it, the feed would miss changes by SQL, and those of statements of the service that only increase
      -- updated_at. Every change of a product increases that.
      (array['products'], 'version_moved', 'before update', 'row',
        'new.updated_at is distinct from old.updated_at and (new.change_version = old.change_version or ' || by_sql
          || ')', 'version_product()'),
      -- Without them, the feed and lists by time of change would lack the product: they read product_changes.
      (array['products'], 'recorded', 'after insert', 'statement', null, 'record_changes()'),
      (array['products'], 'recorded_again', 'after update', 'statement', null, 'record_changes()'),
      -- Without them, the feed would not list what SQL deletes. The row that the first trigger reads is gone when the
      -- second one runs.
      (array['products'], 'remembered_product', 'before delete', 'row', by_sql, 'remember_product()'),
      (array['products'], 'remembered', 'after delete', 'statement', by_sql, 'remember_deletions()'),

      -- Without it, products would show the old name of a record, and the feed would not list them.
      (records, 'renamed', 'after update', 'statement', null, 'move_names()'),
      -- Foreign keys prevent the deletion of records in use, except in a statement that inserts them again. Without it,
      -- products would then show the old records.
      (records, 'deleted', 'after delete', 'statement', by_sql, 'move_names()'),
      -- Without them, products would show old labels of the shared lists: those of onix_codes have no foreign keys.
      (code_lists, 'renamed', 'after update', 'statement', null, 'move_shared_names()'),
      (code_lists, 'deleted', 'after delete', 'statement', null, 'move_shared_names()'),
      (code_lists, 'inserted', 'after insert', 'statement', null, 'move_shared_names()'),
      -- Without them, feeds of recipients would not know that SQL has changed a program.
      (array['publishing_program_products'], 'recorded', 'after insert', 'statement', by_sql, 'record_program_changes()'),
      (array['publishing_program_products'], 'recorded_again', 'after delete', 'statement', by_sql, 'record_program_changes()'),
      -- Without it, an organization that is created during a change of a shared list could keep JSON with old labels.
      (array['organizations'], 'marked', 'after insert', 'statement', null, 'mark_organization()')
    ) t (relations, name, event, each, condition, function)
    cross join unnest(t.relations) relation
  loop
    execute format(
      'create or replace trigger %I %s on %s %s for each %s %s execute function %s',
      item.name, item.event, item.relation, item.referencing, item.each, item.condition, item.function
    );
  end loop;
end $$;
