import { writeBatch } from "./db/batch.ts";
import type { BatchOperation, MatchedKey } from "./db/operation.ts";
import { isbnKeys } from "../../db/products/change/keys.ts";
import { preconditionOf } from "../../middleware/conditional.ts";
import type { HandlerResponse } from "../../middleware/context.ts";
import type { Admitted } from "../../middleware/guard.ts";
import { validBody } from "../../schema/accepted.ts";
import {
  type Batch,
  type Match,
  matchedValue,
  type SentOperation,
  validRestoration,
} from "./schema.ts";
import { catchDefect, defectError } from "../../schema/defects.ts";
import { ApiError, withDetails } from "../../schema/errors.ts";
import { type Ignored, ignoredIn, unusedForm } from "../../schema/ignored.ts";
import { CreateProduct, type ProductBody, UpdateProduct } from "../../schema/bodies.ts";
import { type InTurns, inTurns } from "../../schema/turns.ts";
import { validateEntries } from "../../schema/validate_in_turns.ts";
import { LONG_BODY } from "../../middleware/body.ts";
import { sharedFormWarnings } from "../../schema/shared_form.ts";
import { bareIsbn } from "../../schema/values.ts";
import { ok } from "../../middleware/responses.ts";

/* Reads and validates a batch, operation by operation. `db/batch.ts` writes it. */

/** `POST /products/batch`. Each operation has its own result. */
export async function write(
  context: Admitted<unknown, Batch>,
): Promise<HandlerResponse> {
  const { database, body, keyed, shares, caller } = context;
  const isMinimal = body.return === "minimal";
  const pace = shares.parsing.pacer(caller);
  const operations: (BatchOperation | ApiError)[] = [];
  const ignored: Ignored[][] = [];
  for (const sent of body.operations) {
    const ofOperation: Ignored[] = [];
    if (keyed.text.length > LONG_BODY) await inTurns(validateOperation(sent), pace);
    const operation = shares.parsing.run(
      context,
      () => catchDefect(() => readOperation(sent, ofOperation), defectError),
    );
    operations.push(await operation);
    ignored.push(ofOperation);
  }

  const { response, isReplayed, unusedForms, sharedForms } = await writeBatch(
    database,
    operations,
    {
      isMinimal,
      isAtomic: body.atomic === true,
      request: keyed,
      pace,
    },
  );

  for (const index of unusedForms) {
    const operation = operations[index]!;
    if ("body" in operation) ignored[index]!.push(unusedForm(operation.body));
  }
  const all = ignored.flatMap((ofOperation, index) =>
    ofOperation.map((one) => inOperation(index, one, isMinimal))
  );
  if (all.length > 0) context.ignored = all;
  context.warnings = [...sharedForms].flatMap(([index, form]) => {
    const operation = operations[index]!;
    return "body" in operation
      ? sharedFormWarnings(form, operation.body, `/operations/${index}/body`)
      : [];
  });
  return ok(response, isReplayed ? { "idempotent-replayed": "true" } : {});
}

/** An ignored field of an operation's body. Minimal results show nothing to compare it with. */
function inOperation(
  index: number,
  { pointer, answer, ...ignored }: Ignored,
  isMinimal: boolean,
): Ignored {
  return {
    ...ignored,
    pointer: `/operations/${index}/body${pointer}`,
    ...answer !== undefined && !isMinimal &&
      { answer: `/${index}/data${answer}` },
  };
}

/** Validates the entries in the body of an operation in turns, before `readOperation`. */
function* validateOperation(sent: SentOperation): InTurns<void> {
  if (!("body" in sent)) return;
  if (sent.method !== "update") yield* validateEntries(CreateProduct, sent.body);
  if (sent.method !== "create") yield* validateEntries(UpdateProduct, sent.body);
}

/** Validates an operation, or returns its error. Adds ignored fields to `ignored`. */
function readOperation(
  sent: SentOperation,
  ignored: Ignored[],
): BatchOperation | ApiError {
  switch (sent.method) {
    case "create": {
      const body = readOperationBody(sent, "create", ignored);
      return body instanceof ApiError ? body : { method: "create", body };
    }
    case "update": {
      const body = readOperationBody(sent, "update", ignored);
      if (body instanceof ApiError) return body;
      return { method: "update", ...targetOf(sent), body };
    }
    case "delete":
      return { method: "delete", ...targetOf(sent), sentId: sent.id };
    case "restore": {
      const read = validRestoration(sent);
      if (read instanceof ApiError) return read;
      const { skip_missing: skipMissing, ...chosen } = read;
      return { method: sent.method, ...targetOf(sent), ...chosen, skipMissing };
    }
    case "upsert":
      return readUpsert(sent, ignored);
  }
}

/**
 * Reads an upsert. Its body is valid for a new product, or only for a change, since it lacks
 * required fields (`creationError`), or for neither (`updateError`).
 */
function readUpsert(
  sent: SentOperation & { method: "upsert" },
  ignored: Ignored[],
): BatchOperation | ApiError {
  const { method, match } = sent;
  const created = readOperationBody(sent, "create", ignored);
  const changed = created instanceof ApiError
    ? readOperationBody(sent, "update", ignored)
    : created;
  const isRefused = changed instanceof ApiError;
  // Without the value that it matches, no product can be found.
  if (isRefused && refuses(changed, match)) return changed;
  const value = matchedValue(match, sent.body, isRefused ? sent.body : changed);
  if (value instanceof ApiError) {
    if (isRefused) return withDetails(changed, value.details);
    value.accepted = changed;
    return value;
  }
  const creationError = match === "product_code" ? unknownCode(value) : created;
  return {
    method,
    key: matchedKey(match, value),
    body: isRefused ? {} : changed,
    ...isRefused && { updateError: changed },
    ...creationError instanceof ApiError && { creationError },
  };
}

/** The key of the product that has this value in the matched field. */
function matchedKey(match: Match, value: string): MatchedKey {
  if (match === "product_code") return { kind: match, value, match };
  const [key] = isbnKeys({ [match]: bareIsbn(value) });
  return { ...key!, match };
}

/** Whether the error is about this field of the body. */
function refuses({ details }: ApiError, field: string): boolean {
  return details.some((detail) => "pointer" in detail && detail.pointer === `/${field}`);
}

/**
 * The error of an unknown product code. The service assigns codes, so the upsert creates no
 * product.
 */
function unknownCode(code: string): ApiError {
  return new ApiError("NOT_FOUND", `No product with the code "${code}"`);
}

/** Validates the body of an operation. The field that an upsert matches is not ignored. */
function readOperationBody(
  sent: Extract<SentOperation, { body: unknown }>,
  method: "create" | "update",
  ignored: Ignored[],
): ProductBody | ApiError {
  const body = validBody(method, sent.body);
  if (body instanceof ApiError) return body;
  const match = sent.method === "upsert" ? sent.match : undefined;
  for (const one of ignoredIn(sent.body, body)) {
    if (one.name !== match) ignored.push(one);
  }
  return body;
}

function targetOf(
  { id, if_match }: { id: string; if_match?: string },
) {
  return { id: id.toLowerCase(), precondition: preconditionOf(if_match) };
}
