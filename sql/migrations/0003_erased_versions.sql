-- A version that was erased keeps its place, without JSON.
alter table product_documents drop constraint product_documents_event;

-- Not validated: every row meets the narrower constraint before it.
alter table product_documents add constraint product_documents_event
  check (event in ('created', 'changed', 'restored', 'deleted', 'erased')) not valid;

-- The time by which housekeeping last judged which versions are due. It advances slowly if the clock jumps. One row.
create table history_clock (
  one boolean not null default true,
  at timestamptz not null,

  constraint history_clock_pkey primary key (one),
  constraint history_clock_one check (one)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_reference_table('history_clock');
  end if;
end $$;
