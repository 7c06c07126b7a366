import { writeBatch } from "../db/products/write_many.ts";
import type { Operation } from "../db/products/rounds.ts";
import { readText, validBody } from "../middleware/body.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { idempotencyKeyOf, preconditionOf } from "../middleware/http.ts";
import {
  Batch,
  failedAt,
  matchedValue,
  readBody,
  type SentOperation,
} from "../schema/batch.ts";
import { ApiError } from "../schema/errors.ts";
import { ignoredFields } from "../schema/objects.ts";
import { ok } from "./handlers.ts";

/** `POST /products/batch`. Each operation has its own result. */
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

  return ok(answer, isReplayed ? { "idempotent-replayed": "true" } : {});
}

/** Validates an operation, or returns its error. Adds ignored fields to `ignored`. */
function read(sent: SentOperation, ignored: Set<string>): Operation | ApiError {
  const { method } = sent;
  if (method === "delete") {
    return { method, ...targetOf(sent), sentId: sent.id };
  }
  // A body that is valid for create is also valid for update.
  const created = readBody(method === "update" ? method : "create", sent.body);
  const updated = method === "upsert" && created instanceof ApiError
    ? readBody("update", sent.body)
    : created;
  if (updated instanceof ApiError) return updated;
  const match = method === "upsert" ? sent.match : undefined;
  for (const name of ignoredFields(sent.body, updated)) {
    if (name !== match) ignored.add(name);
  }
  if (method === "create") return { method, body: updated };
  if (method === "update") return { method, ...targetOf(sent), body: updated };
  const value = matchedValue(sent.match, sent.body, updated);
  if (value instanceof ApiError) return value;
  return { method, match: sent.match, value, updated, created };
}

function targetOf(
  { id, if_match }: { id: string; if_match?: string | undefined },
) {
  return { id: id.toLowerCase(), precondition: preconditionOf(if_match) };
}
