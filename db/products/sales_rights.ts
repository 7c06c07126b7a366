import type { SalesRightsBody } from "../../schema/rights_bodies.ts";
import type { Queries } from "../database.ts";
import { uuidv7 } from "../uuid.ts";
import { pruning, upserting } from "./nested_rows.ts";
import { replaceRows } from "./replaced_rows.ts";
import { TERRITORY_COLUMNS } from "./rights_json.ts";
import type { Precondition } from "./write.ts";

const TABLE = "product_sales_rights";

const upsert = upserting(TABLE, ["id"], [
  "sales_rights_type",
  "is_rest_of_world",
  ...TERRITORY_COLUMNS,
  "publisher_name",
]);

const prune = pruning(TABLE, ["id"]);

/** Replaces the sales rights of the product. Throws as `replaceRows` does. */
export async function replaceSalesRights(
  database: Queries,
  id: string,
  body: SalesRightsBody,
  precondition?: Precondition,
): Promise<string> {
  const named = body.flatMap(({ id }, i) =>
    id ? [{ table: TABLE, id, pointer: `/${i}/id` }] : []
  );
  const rows = body.map(({ territory, ...right }, position) => ({
    ...right,
    ...territory,
    product_id: id,
    id: right.id ?? uuidv7(),
    position,
  }));
  const writes = [...prune([id], []), ...upsert([id], rows)];
  return await replaceRows(database, id, { named, writes }, precondition);
}
