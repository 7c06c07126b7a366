/** For each rule, a statement that breaks only this rule. */
export const WRONG_STATEMENTS: Record<string, string> = {
  "names the organization, as a parameter, for every table of organizations":
    "select p.id, (select l.name from licenses l where l.id = p.license_id) from products p where p.organization_id = $1",
  "compares no organization with another table's":
    "select p.id from products p join licenses l on l.organization_id = $1 and l.organization_id = p.organization_id where p.organization_id = $1",
  "inserts values, or selects the organization out of one of its tables":
    "insert into seasons (organization_id, id, name) select $1, p.id, p.title from products p where p.organization_id = $1",
  "calls no volatile function in a write, nor through a column default":
    "update products p set updated_at = clock_timestamp() where p.organization_id = $1",
  "adds intervals to columns only in UTC":
    "update products p set updated_at = p.updated_at + interval '1 day' where p.organization_id = $1",
  "does not nest now() in coalesce or case":
    "update products p set updated_at = coalesce($2, now()) where p.organization_id = $1",
  "returns columns of what it writes, and calls no function on them":
    "delete from products p where p.organization_id = $1 returning to_char(p.created_at, 'YYYY')",
  "writes nothing inside a common table expression":
    "with gone as ( delete from products p where p.organization_id = $1 returning p.id ) select id from gone",
  "writes no table that every node has": "update api_keys set name = $2 where id = $1",
  "decides by immutable functions what a conflict updates":
    "insert into seasons as s (organization_id, id, name) values ($1, $2, $3) on conflict (organization_id, id) do update set name = excluded.name where s.updated_at < now()",
  "takes no parameter where a row that it selects meets another":
    "insert into seasons as s (organization_id, id, name) select r.organization_id, r.id, r.name from jsonb_populate_recordset(null::seasons, $2) r on conflict (organization_id, id) do update set name = excluded.name where $3",
  "asks no organization's table for the version or the horizon of the transaction":
    "select p.id, pg_snapshot_xmin(pg_current_snapshot()) from products p where p.organization_id = $1",
  "does not nest the version of the transaction in coalesce or case":
    "insert into renames (organization_id, record_table, record_id, version) select r.organization_id, 'seasons', r.id, coalesce($2, change_version()) from seasons r where r.organization_id = $1",
  "moves no row to another organization":
    "update seasons s set organization_id = $2 where s.organization_id = $1",
  "compares in each branch of a case, not once before them":
    "select case p.title when 'Emma' then 1 end from products p where p.organization_id = $1",
  "does not merge":
    "merge into onix_codes using ( values (1) ) v on true when matched then do nothing",
  "defers no constraint": "set constraints products_series deferred",
};

/** For each rule for tables, a statement that breaks only this rule. */
export const WRONG_TABLES: Record<string, string> = {
  "names every constraint by hand": "alter table seasons add check (name <> '')",
  "names constraints with at most 50 characters, and no number at the end":
    "alter table seasons add constraint seasons_rule_1 check (name <> '')",
  "has the organization in whatever is unique":
    "create unique index seasons_once on seasons (name)",
  "has the organization first in keys to an organization's table":
    "alter table seasons add constraint seasons_license foreign key (id, organization_id) references licenses (id, organization_id) not valid",
  "has no key from a shared table to an organization's":
    "alter table api_keys add constraint api_keys_season foreign key (organization_id, organization_id) references seasons (organization_id, id) not valid",
  "has product_id on every row below a product":
    "alter table seasons add constraint seasons_product foreign key (organization_id, id) references products (organization_id, id) not valid",
  "is an organization's table, or one that sql/citus.sql lists":
    "create table loose (id uuid not null)",
  "has no identity columns":
    "alter table seasons add column number int generated always as identity",
  "deletes or keeps what refers to a row, and changes none of it":
    "alter table seasons add constraint seasons_license foreign key (organization_id, id) references licenses (organization_id, id) on delete set null not valid",
  "checks every rule at once":
    "alter table seasons add constraint seasons_license foreign key (organization_id, id) references licenses (organization_id, id) deferrable not valid",
};

const EDITIONS =
  "do $$ begin perform create_distributed_table('editions', 'organization_id'); end $$";

/** For each rule for migrations, a file that breaks only this rule. */
export const WRONG_MIGRATIONS: Record<string, string> = {
  "distributes a new table in the file that makes it":
    "create table editions (organization_id uuid not null, id uuid not null)",
  "adds the keys of a new table after it is distributed":
    `create table editions (organization_id uuid not null, constraint editions_key foreign key (organization_id) references organizations (id));\n\n${EDITIONS}`,
  "leaves functions and triggers to sql/functions.sql":
    "do $$ begin create trigger seasons_touch before update on seasons for each row execute function touch(); end $$",
  "drops a constraint and adds another to change it":
    "alter table seasons rename constraint seasons_pkey to seasons_key",
  "drops one object per statement": "drop index products_by_age, products_by_format",
};
