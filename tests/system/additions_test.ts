import { assertEquals } from "@std/assert";
import type { Field } from "../../schema/fields.ts";
import { CODE_FILTERS, FILTERS, REFERENCE_FILTERS, TERM_FILTERS } from "../../schema/list_query.ts";
import { FIELDS, ROWS } from "../../schema/product.ts";
import { OWN_TABLES } from "../../schema/records.ts";
import { testsOf } from "../support/app/harness.ts";
import { fullBody } from "../support/data/bodies.ts";
import { RECORD_VALUES, writtenFields } from "../support/data/records.ts";

/* What has to be added beside a new filter, record or field. Each sentence says where. */

const it = testsOf("An addition");

const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));

/** Filters that cannot use an index of their own, with the reason. */
const WITHOUT_INDEX: Record<string, string> = {
  product_type: "it has few values",
  license_id: "an organization has few licences",
  season_id: "an organization has few seasons",
  division_id: "an organization has few divisions",
  product_form_code: "the formats of the form have an index",
  search: "its index is tested by statement_rules.ts",
  q: "its index is tested by statement_rules.ts",
};

/** The columns of the tables in which filters look, by filter. */
function columnsOf(filter: string): string[] {
  const code = CODE_FILTERS.find(({ name }) => name === filter);
  const field = code?.reference.field ?? filter;
  if (TERM_FILTERS.some((name) => name === filter)) return ["term"];
  if (filter === "series_id") return ["collection_id"];
  if (filter === "updated_since") return ["updated_at"];
  if (filter === "shared_isbn") return ["isbn13"];
  return [field.replace(/_(?:from|to)$/, "")];
}

it("of a filter has an index and a case", async ({ sql }) => {
  const cases = await read("tests/products/finding_table.txt");
  const generated = REFERENCE_FILTERS.map(({ field }) => field as string);
  const indexed = (await sql`
    select distinct a.attname::text as name
    from pg_index i
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    join pg_class t on t.oid = i.indrelid
    where t.relnamespace = current_schema()::regnamespace
  `).map(({ name }) => name);
  const missing = Object.keys(FILTERS).flatMap((filter) => [
    ...generated.includes(filter) || cases.includes(`${filter}=`) ? [] : [
      `The filter ${filter} has no case: add a line with ${filter}=… to tests/products/finding_table.txt`,
    ],
    ...filter in WITHOUT_INDEX || columnsOf(filter).some((column) => indexed.includes(column))
      ? []
      : [
        `The filter ${filter} has no index: add one of (organization_id, ${
          columnsOf(filter)
        }) in a new file of sql/migrations, or a reason to WITHOUT_INDEX`,
      ],
  ]);
  assertEquals(missing, []);
});

it("of a table has a row in the demo organization", async () => {
  const demo = await read("sql/demo.sql");
  const tables = [...OWN_TABLES, ...ROWS.map(([, { table }]) => table)];
  const missing = tables.filter((table) => !new RegExp(`insert into ${table} \\(`).test(demo)).map(
    (table) =>
      `The demo organization has no row of ${table}: add one to sql/demo.sql, as the first start, /docs and the examples of OpenAPI show it`,
  );
  assertEquals(missing, []);
});

it("of a field has a value in the bodies that tests send", async ({ org, app }) => {
  const body: Record<string, unknown> = await fullBody(app, org);
  const isSent = (field: Field) =>
    field.kind === "column" ? field.body !== undefined : isArray(field) && !("path" in field);
  const ofProducts = Object.entries(FIELDS)
    .filter(([name, field]) => isSent(field) && !(name in body))
    .map(([name]) =>
      `The field ${name} of products has no value: add one to fullBody in tests/support/data/bodies.ts`
    );
  const ofRecords = OWN_TABLES.flatMap((table) =>
    writtenFields(table).filter((name) => !(name in RECORD_VALUES)).map((name) =>
      `The field ${name} of ${table} has no value: add one to RECORD_VALUES in tests/support/data/records.ts`
    )
  );
  assertEquals([...ofProducts, ...ofRecords], []);
});

function isArray({ kind }: Field): boolean {
  return kind === "rows" || kind === "values" || kind === "list";
}
