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
import { ApiError } from "../schema/errors.ts";
import { ignoredFields } from "../schema/objects.ts";
import type { ProductBody } from "../schema/bodies.ts";
import { ok } from "./responses.ts";

/** `POST /products/batch`. Each operation has its own result. */
export async function write(
  context: Admitted<unknown, Batch>,
): Promise<HandlerResponse> {
  const { database, body, keyed, log, shares } = context;
  const ignored = new Set<string>();
  const operations: (BatchOperation | ApiError)[] = [];
  for (const sent of body.operations) {
    const operation = shares.parsing.run(context, () => read(sent, ignored));
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
      const created = readSent(sent, "create", ignored);
      return created instanceof ApiError ? created : { created };
    }
    case "update": {
      const updated = readSent(sent, "update", ignored);
      if (updated instanceof ApiError) return updated;
      return { ...targetOf(sent), updated };
    }
    case "delete":
      return { ...targetOf(sent), deletedAs: sent.id };
    case "upsert": {
      const { match } = sent;
      const created = readSent(sent, "create", ignored);
      // A body may lack what only a new product needs.
      const updated = created instanceof ApiError
        ? readSent(sent, "update", ignored)
        : created;
      if (updated instanceof ApiError) return updated;
      const value = matchedValue(match, sent.body, updated);
      if (value instanceof ApiError) return value;
      if (match === "product_code") {
        const key = { match, value, field: match };
        return { key, updated, created: unknownCode(value) };
      }
      const [isbn] = isbnKeys({ [match]: value });
      return { key: { ...isbn!, field: match }, updated, created };
    }
  }
}

/** The service assigns codes, so no product is created with one. */
function unknownCode(code: string): ApiError {
  return new ApiError("NOT_FOUND", `No product with the code "${code}"`);
}

/** Validates the body of an operation. The field that an upsert matches is not ignored. */
function readSent(
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
