import {
  type ListedKey,
  listedKey,
  listKeys,
  newKey,
  revokeOwnKey,
} from "../db/api_keys.ts";
import { readBody } from "../middleware/body.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { success } from "../middleware/respond.ts";
import { NewApiKey, Revocation } from "../schema/api_key.ts";
import { ApiError } from "../schema/errors.ts";
import { readQuery } from "../schema/parameters.ts";
import { ok } from "./responses.ts";

/** The handlers of API keys. */
export const KEY_HANDLERS = {
  "GET /api-keys": list,
  "POST /api-keys": create,
  "GET /api-keys/{key_id}": get,
  "DELETE /api-keys/{key_id}": revoke,
};

async function list({ database }: Authenticated): Promise<Answer> {
  const keys = await database.scan(listKeys);
  return ok(JSON.stringify(keys.map(shown)));
}

/** The only response that contains the key itself. */
async function create(context: Authenticated): Promise<Answer> {
  const { database, services } = context;
  using memory = context.memory.bodies.reserve(context.facts.caller);
  const { body } = await readBody(context, NewApiKey, memory);
  const expiresAt = body.expires_at;
  const { id, key, statement } = newKey({ ...body, expiresAt });
  const [, [stored]] = await database.write(statement, listedKey(id));
  return {
    status: 201,
    body: success(JSON.stringify({ ...shown(stored!), key })),
    headers: {
      "location": `${services.apiPrefix}/api-keys/${id}`,
      "cache-control": "no-store",
    },
  };
}

async function get({ params, database }: Authenticated): Promise<Answer> {
  const [key] = await database.lookUp(listedKey(params.key_id!));
  return oneKey(params.key_id!, key);
}

/** Revokes the key now, or at the query parameter `at`. */
async function revoke(
  { request, params, database }: Authenticated,
): Promise<Answer> {
  const { at } = readQuery(Revocation, new URL(request.url));
  const id = params.key_id!;
  const [, [key]] = await database.write(revokeOwnKey(id, at), listedKey(id));
  return oneKey(id, key);
}

function oneKey(id: string, key: ListedKey | undefined): Answer {
  if (!key) throw new ApiError("NOT_FOUND", `No API key with id "${id}"`);
  return ok(JSON.stringify(shown(key)));
}

function shown({ public_id: id, ...key }: ListedKey) {
  return { id, ...key };
}
