import { type BatchOperation, writeBatch } from "../db/products/batch.ts";
import { isbnKeys } from "../db/products/keys.ts";
import { preconditionOf } from "../middleware/conditional.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import type { Admitted } from "../middleware/guard.ts";
import {
  type Batch,
  matchedValue,
  type SentOperation,
  validBody,
} from "../schema/batch.ts";
import { failure, guarded } from "../schema/defects.ts";
import { ApiError } from "../schema/errors.ts";
import { ignoredFields } from "../schema/objects.ts";
import type { ProductBody } from "../schema/bodies.ts";
import { ok } from "./responses.ts";

/*
 * A batch is read here, operation by operation. `db/products/batch.ts` finds out what becomes
 * of each product, and `db/products/write_together.ts` writes that.
 */

/** `POST /products/batch`. Each operation has its own result. */
export async function write(
  context: Admitted<unknown, Batch>,
): Promise<HandlerResponse> {
  const { database, body, keyed, log, shares } = context;
  const ignored = new Set<string>();
  const operations: (BatchOperation | ApiError)[] = [];
  for (const sent of body.operations) {
    const operation = shares.parsing.run(
      context,
      () => guarded(() => read(sent, ignored), failure),
    );
    operations.push(await operation);
  }

  const { response, isReplayed } = await writeBatch(database, operations, {
    isMinimal: body.return === "minimal",
    isAtomic: body.atomic === true,
    ignore: (field) => ignored.add(field),
    request: keyed,
  });

  if (ignored.size > 0) log.ignored_fields = [...ignored];
  return ok(response, isReplayed ? { "idempotent-replayed": "true" } : {});
}

/** Validates an operation, or returns its error. Adds ignored fields to `ignored`. */
function read(
  sent: SentOperation,
  ignored: Set<string>,
): BatchOperation | ApiError {
  switch (sent.method) {
    case "create": {
      const body = readBody(sent, "create", ignored);
      return body instanceof ApiError ? body : { method: "create", body };
    }
    case "update": {
      const body = readBody(sent, "update", ignored);
      if (body instanceof ApiError) return body;
      return { method: "update", ...targetOf(sent), body };
    }
    case "delete":
      return { method: "delete", ...targetOf(sent), sentId: sent.id };
    case "upsert":
      return readUpsert(sent, ignored);
  }
}

function readUpsert(
  sent: SentOperation & { method: "upsert" },
  ignored: Set<string>,
): BatchOperation | ApiError {
  const { method, match } = sent;
  const created = readBody(sent, "create", ignored);
  // A body may lack what only a new product needs.
  const body = created instanceof ApiError
    ? readBody(sent, "update", ignored)
    : created;
  if (body instanceof ApiError) return body;
  const value = matchedValue(match, sent.body, body);
  if (value instanceof ApiError) return value;
  if (match === "product_code") {
    const key = { match, value, field: match };
    return { method, key, body, creationError: unknownCode(value) };
  }
  const [isbn] = isbnKeys({ [match]: value });
  const key = { ...isbn!, field: match };
  return created instanceof ApiError
    ? { method, key, body, creationError: created }
    : { method, key, body };
}

/** The service assigns codes, so no product is created with one. */
function unknownCode(code: string): ApiError {
  return new ApiError("NOT_FOUND", `No product with the code "${code}"`);
}

/** Validates the body of an operation. The field that an upsert matches is not ignored. */
function readBody(
  sent: Exclude<SentOperation, { method: "delete" }>,
  method: "create" | "update",
  ignored: Set<string>,
): ProductBody | ApiError {
  const body = validBody(method, sent.body);
  if (body instanceof ApiError) return body;
  const match = sent.method === "upsert" ? sent.match : undefined;
  for (const name of ignoredFields(sent.body, body)) {
    if (name !== match) ignored.add(name);
  }
  return body;
}

function targetOf(
  { id, if_match }: { id: string; if_match?: string },
) {
  return { id: id.toLowerCase(), precondition: preconditionOf(if_match) };
}
