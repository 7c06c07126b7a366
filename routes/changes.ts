import { listChanges } from "../db/products/feed.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { ChangesParameters, cursorText } from "../schema/changes_query.ts";
import { success } from "../schema/envelope.ts";
import { readQuery } from "../schema/list_query.ts";

/** `GET /products/changes` */
export async function list(
  { request, database }: Authenticated,
): Promise<Answer> {
  const { searchParams } = new URL(request.url);
  const query = readQuery(ChangesParameters, searchParams);
  const { changes, cursor, more } = await listChanges(database, query);
  return {
    status: 200,
    body: success(changes, { cursor: cursorText(cursor), more }),
  };
}
