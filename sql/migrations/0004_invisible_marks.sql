-- The name of a record as references by name compare it: without marks that nobody sees (soft hyphens, zero-width and
-- directional signs, byte order marks), composed, and with each run of white space as one space.
create or replace function compared_name(value text) returns text
language sql immutable parallel safe
return normalize(
  btrim(regexp_replace(
    regexp_replace(value, '[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]', '', 'g'),
    '[\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'
  )), nfc
);

-- The stored keys of names with such marks.
do $$ declare
  named text;
begin
  for named in
    select c.table_name
    from information_schema.columns c
    where c.table_schema = current_schema and c.column_name = 'name_key'
  loop
    execute format(
      'update %I set name = name where name ~ ''[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]''', named
    );
  end loop;
end $$;
