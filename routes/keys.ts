import {
  keepRecipient,
  type ListedKey,
  listedKey,
  listKeys,
  newKey,
  revokeOwnKey,
} from "../db/access.ts";
import { pageOf } from "../db/entry_page.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import type { Admitted } from "../middleware/guard.ts";
import type { NewApiKey, Revocation } from "../schema/api_key.ts";
import { ApiError, invalid, unknownReference } from "../schema/errors.ts";
import type { PageQuery } from "../schema/record_query.ts";
import { issued, ok, page } from "../middleware/responses.ts";

/* The handlers of API keys. */

/** `GET /api-keys`: a page of the keys, newest first. */
export async function list(
  context: Admitted<PageQuery>,
): Promise<HandlerResponse> {
  const { database, query } = context;
  const keys = await database.scan(listKeys);
  return page(context, pageOf(keys.map(shownKey), query));
}

/** `POST /api-keys`: the only response that contains the key itself. */
export async function create(
  context: Admitted<unknown, NewApiKey>,
): Promise<HandlerResponse> {
  const { database, body } = context;
  const { expires_at: expiresAt, recipient_id: recipient } = body;
  const { id, key, statement } = newKey({ ...body, expiresAt, recipient });
  const stored = await database.transaction(async (tx) => {
    if (recipient) {
      const [[known]] = await tx.send(keepRecipient(recipient));
      if (!known) throw invalid("The body", [unknownReference("/recipient_id")]);
    }
    const [, [stored]] = await tx.commit(statement, listedKey(id));
    return stored!;
  });
  return issued(context, id, { ...shownKey(stored), key });
}

/** `GET /api-keys/{key_id}`. */
export async function get(
  { database, params: { key_id: id } }: Admitted,
): Promise<HandlerResponse> {
  const [key] = await database.lookUp(listedKey(id));
  return oneKey(id, key);
}

/** `DELETE /api-keys/{key_id}`: revokes the key now, or at the query parameter `at`. */
export async function revoke(
  { database, params: { key_id: id }, query }: Admitted<Revocation>,
): Promise<HandlerResponse> {
  const revocation = revokeOwnKey(id, query.at);
  const [, [key]] = await database.write(revocation, listedKey(id));
  return oneKey(id, key);
}

function oneKey(id: string, key: ListedKey | undefined): HandlerResponse {
  if (!key) throw new ApiError("NOT_FOUND", `No API key with id "${id}"`);
  return ok(JSON.stringify(shownKey(key)));
}

function shownKey({ public_id: id, ...key }: ListedKey) {
  return { id, ...key };
}
