import type { HandlerResponse } from "../../middleware/context.ts";
import type { Admitted } from "../../middleware/guard.ts";
import { withCount } from "../../middleware/conditional.ts";
import { created, current, ok, page } from "../../middleware/responses.ts";
import type { RecordQuery } from "../../schema/record_query.ts";
import { listProductRecipients } from "./db/product_recipients.ts";
import {
  createRecipient,
  deleteRecipient,
  getRecipient,
  listRecipients,
  updateRecipient,
} from "./db/recipients.ts";
import {
  type DryRunQuery,
  type NewRecipient,
  type RecipientChange,
  statusWarnings,
} from "./schema/recipient.ts";

/* The handlers of recipients. */

/** `GET /recipients`. */
export async function list(context: Admitted<RecordQuery>): Promise<HandlerResponse> {
  return page(context, await listRecipients(context.database, context.query));
}

/** `POST /recipients`. */
export async function create(
  context: Admitted<DryRunQuery, NewRecipient>,
): Promise<HandlerResponse> {
  const { database, body, keyed, query: { dry_run: isDryRun } } = context;
  const outcome = await createRecipient(database, body, isDryRun, keyed);
  const response = withStatusWarnings(outcome.response);
  if (isDryRun) return ok(response);
  const answer = created(context, { ...outcome, response });
  return { ...answer, headers: { ...answer.headers, etag: outcome.etag } };
}

/** `GET /recipients/{id}`. */
export async function get({ database, params }: Admitted): Promise<HandlerResponse> {
  const { recipient, etag } = await getRecipient(database, params.id);
  const fetched = recipient.last_fetched_at ? Date.parse(recipient.last_fetched_at) : 0;
  return current(JSON.stringify(recipient), withCount(etag, fetched + recipient.products));
}

/** `PUT /recipients/{id}`. */
export async function update(
  { database, params, body, query, precondition }: Admitted<DryRunQuery, RecipientChange>,
): Promise<HandlerResponse> {
  const { text, etag } = await updateRecipient(
    database,
    params.id,
    body,
    query.dry_run,
    precondition,
  );
  return current(withStatusWarnings(text), etag);
}

/** `DELETE /recipients/{id}`. */
export async function remove(
  { database, params: { id }, query, precondition }: Admitted<DryRunQuery>,
): Promise<HandlerResponse> {
  const { deleted, effect } = await deleteRecipient(database, id, query.dry_run, precondition);
  return ok(JSON.stringify({ id, deleted, effect }));
}

/** `GET /products/{id}/recipients`. */
export async function listOfProduct({ database, params }: Admitted): Promise<HandlerResponse> {
  return ok(JSON.stringify(await listProductRecipients(database, params.id)));
}

/** The data of a write, with the warnings about the recipient. */
function withStatusWarnings(text: string): string {
  const recipient = JSON.parse(text);
  const warnings = statusWarnings(recipient);
  return warnings.length > 0 ? JSON.stringify({ ...recipient, warnings }) : text;
}
