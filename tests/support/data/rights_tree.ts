import { uuidv7 } from "../../../db/uuid.ts";
import type { Fields, Rows } from "../../../schema/fields.ts";
import { CODE_LISTS } from "../../../schema/onix_codes.ts";
import { ARRAYS } from "../../../schema/product.ts";
import type { App } from "../app/harness.ts";
import type { Organization } from "../app/organization.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const WORLD = { regions_included: ["WORLD"], regions_excluded: ["GB-NIR"] };

/** A tree with a complete row of each kind, and one with the required fields alone. */
const SENT = [
  {
    market_reference: "UKCW",
    exclusivity: "exclusive",
    markets: [
      {
        name: "British Isles",
        territory: { countries_included: ["GB", "IE"], ...WORLD },
      },
      { territory: { regions_included: ["ECZ"] } },
    ],
    market_publishing_detail: {
      market_publishing_status: "04",
      market_dates: [
        { market_date_role: "10", date: "2026-01-05" },
        { market_date_role: "01", date: "0001-02-03" },
      ],
    },
    supply_details: [
      {
        supplier: {
          supplier_role: "02",
          supplier_name: "Harbour Distribution",
          supplier_identifiers: [
            {
              supplier_id_type: "06",
              id_type_name: null,
              id_value: "5012345000015",
            },
          ],
        },
        product_availability: "21",
        supply_dates: [
          { supply_date_role: "08", date: "2026-02-01" },
          { supply_date_role: "02", date: "2026-01-31" },
        ],
        order_time: 2,
        pack_quantity: 24,
        prices: [
          {
            price_type: "02",
            price_amount: 12.99,
            currency_code: "GBP",
            price_status: "02",
            minimum_order_quantity: 1,
            valid_from: "2026-01-01",
            valid_to: "2026-12-31",
            price_qualifier: "05",
            territory: {
              countries_included: ["GB"],
              countries_excluded: ["JE"],
              ...WORLD,
            },
            taxes: [
              {
                tax_type: "01",
                tax_rate_code: "S",
                tax_rate_percent: 20,
                taxable_amount: 10.825,
                tax_amount: 2.165,
              },
              {},
            ],
          },
          {},
        ],
      },
      { unpriced_item_type: "02" },
    ],
  },
  {},
];

/** The tree of `insertTree`, as in responses. */
export const TREE: Any[] = shownRows(ARRAYS.product_territories, SENT);

/** The entries with ids, with null, nothing or its default for each field that they lack, and with labels. */
function shownRows(array: Rows, entries: Any[] = []): Any[] {
  return entries.map((entry) => ({
    ...!array.isIdHidden && { id: uuidv7() },
    ...shownFields(array.fields, entry),
  }));
}

function shownFields(fields: Fields, entry: Any = {}): object {
  return Object.assign(
    {},
    ...Object.entries(fields).map(([name, field]) => {
      if (field.kind === "group") {
        return { [name]: shownFields(field.fields, entry[name]) };
      }
      if (field.kind === "rows") {
        return { [name]: shownRows(field, entry[name]) };
      }
      if (field.kind === "values") return { [name]: entry[name] ?? [] };
      if (field.kind !== "column") return {};
      const value = entry[name] ?? field.fallback ?? null;
      const list = field.labels && CODE_LISTS[field.labels];
      return {
        [name]: value,
        ...list && {
          [`${name}_label`]: list.codes.find(({ code }) => code === value)
            ?.label ?? null,
        },
      };
    }),
  );
}

/** Inserts the tree by SQL, like another system, with later rows first. */
export async function insertTree(
  app: App,
  org: Organization,
  product: string,
): Promise<void> {
  const key = { organization_id: org.id, product_id: product };
  for (const [table, row] of rowsOf(ARRAYS.product_territories, TREE, key)) {
    const columns = app.sql(Object.keys(row).join());
    await app.sql`
      insert into ${app.sql(table)} (${columns})
      select ${columns}
      from jsonb_populate_record(null::${app.sql(table)}, ${app.sql.json(row)})
    `;
  }
}

/** The rows of the tables, those above others first. */
function* rowsOf(
  array: Rows,
  entries: Any[],
  key: object,
): Generator<[table: string, row: object]> {
  const columnsOf = (fields: Fields, entry: Any): [string, unknown][] =>
    Object.entries(fields).flatMap(([name, field]) =>
      (field.kind === "column" || field.kind === "values") &&
        entry[name] !== null
        ? [[name, entry[name]] as [string, unknown]]
        : field.kind === "group"
        ? columnsOf(field.fields, entry[name])
        : []
    );
  const arraysOf = (fields: Fields, entry: Any): [Rows, Any[]][] =>
    Object.entries(fields).flatMap(([name, field]) =>
      field.kind === "rows"
        ? [[field, entry[name]] as [Rows, Any[]]]
        : field.kind === "group"
        ? arraysOf(field.fields, entry[name])
        : []
    );
  for (const [position, entry] of [...entries.entries()].reverse()) {
    yield [array.table, {
      ...key,
      ...entry.id && { id: entry.id },
      position: position + 1,
      ...Object.fromEntries(columnsOf(array.fields, entry)),
    }];
    for (const [inner, below] of arraysOf(array.fields, entry)) {
      const { organization_id, product_id } = key as Any;
      const owner = array.link && { [array.link]: entry.id };
      yield* rowsOf(inner, below, { organization_id, product_id, ...owner });
    }
  }
}

/** A copy without ids, as a body that creates the same tree. */
export function withoutIds<T>(tree: T): T {
  const text = JSON.stringify(
    tree,
    (key, value) => key === "id" ? undefined : value,
  );
  return JSON.parse(text) as T;
}
