import { writeBatch } from "../db/products/write_many.ts";
import type { Operation } from "../db/products/rounds.ts";
import { readText, validBody } from "../middleware/body.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { preconditionOf } from "../middleware/etag.ts";
import { idempotencyKeyOf } from "../middleware/request_headers.ts";
import {
  Batch,
  failedAt,
  matchedValue,
  readBody,
  type SentOperation,
} from "../schema/batch.ts";
import { success } from "../schema/envelope.ts";
import { ApiError } from "../schema/errors.ts";
import { ignoredFields } from "../schema/ignored_fields.ts";

/** `POST /products/batch`. */
export async function batch(context: Authenticated): Promise<Answer> {
  const { request, database, facts } = context;
  const key = idempotencyKeyOf(request.headers);
  using memory = context.memory.bodies.reserve(facts);
  const text = await readText(context, memory);
  const body = validBody(context, text, Batch);
  const ignored = new Set<string>();
  const operations = body.operations.map((sent) => read(sent, ignored));
  if (ignored.size > 0) facts.ignored_fields = [...ignored];

  const { answer, isReplayed } = await writeBatch(database, operations, {
    isMinimal: body.return === "minimal",
    failWith: body.atomic ? failedAt : undefined,
    request: { operation: "POST /products/batch", key, text },
  });

  return {
    status: 200,
    body: success(answer),
    headers: isReplayed ? { "idempotent-replayed": "true" } : {},
  };
}

/** The operation with its body read, or why it fails; notes the fields of the body that are ignored. */
function read(sent: SentOperation, ignored: Set<string>): Operation | ApiError {
  if (sent.method === "delete") {
    return {
      method: "delete",
      id: sent.id.toLowerCase(),
      sentId: sent.id,
      precondition: preconditionOf(sent.if_match),
    };
  }
  const created = sent.method === "update"
    ? undefined
    : readBody("create", sent.body);
  // A body that creates a product would change one too.
  const updated = !created || created instanceof ApiError
    ? readBody("update", sent.body)
    : created;
  const body = sent.method === "create" ? created! : updated;
  if (body instanceof ApiError) return body;
  for (const name of ignoredFields(sent.body, body)) ignored.add(name);
  switch (sent.method) {
    case "create":
      return { method: "create", body };
    case "update":
      return {
        method: "update",
        id: sent.id.toLowerCase(),
        body,
        precondition: preconditionOf(sent.if_match),
      };
    case "upsert": {
      const { match } = sent;
      ignored.delete(match);
      const value = matchedValue(match, sent.body, body);
      if (value instanceof ApiError) return value;
      return { method: "upsert", match, value, updated, created: created! };
    }
  }
}
