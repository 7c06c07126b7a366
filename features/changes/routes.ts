import { listChanges } from "./db/changes.ts";
import type { HandlerResponse } from "../../middleware/context.ts";
import { type Admitted, pacedView } from "../../middleware/guard.ts";
import { followed } from "../../middleware/responses.ts";
import { type ChangesQuery, countsAsFetch, cursorText } from "./schema.ts";

/* The handler of the feed of changes. */

/** `GET /products/changes`. */
export async function list(
  context: Admitted<ChangesQuery>,
): Promise<HandlerResponse> {
  const { database, query, caller } = context;
  const isFetch = countsAsFetch(caller, query);
  const { changes, cursor, more } = await listChanges(database, query, pacedView(context), isFetch);
  return followed(changes, { cursor: cursorText(cursor), more });
}
