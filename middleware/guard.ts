import type { Author } from "../db/connections/transaction.ts";
import type { Queries } from "../db/database.ts";
import type { KeyedRequest } from "../db/idempotency.ts";
import type { Precondition } from "../db/entity_tag.ts";
import { withReferences } from "../db/products/names.ts";
import { ApiError, unavailable } from "../schema/errors.ts";
import {
  type BodyName,
  type BodyOf,
  bodySchema,
  type Operation,
  type OperationKey,
  type Permission,
} from "../schema/openapi/operation.ts";
import type { OperationId } from "../schema/openapi/prose.ts";
import {
  isEmptyAllowed,
  NoParameters,
  type QueryOf,
  type QuerySchema,
  readQuery,
} from "../schema/parameters.ts";
import { type AuthenticatedCaller, createAuthenticator } from "./auth.ts";
import { jsonLength, readJson } from "./body.ts";
import { preconditionOf } from "./conditional.ts";
import type { Context, Handler, Routed, Services } from "./context.ts";
import { PARSED, PASSED_ON, TextMemory } from "./memory.ts";
import { idempotencyKeyOf } from "./request.ts";
import { withWarnings } from "./warnings.ts";

/** A request that the guard has admitted, with its valid parts. */
export interface Admitted<Query = unknown, Body = unknown> extends Routed {
  caller: AuthenticatedCaller;
  /** Who makes the request's changes of products. */
  author: Author;
  /** Queries for the caller's organization, until the deadline. */
  database: Queries;
  query: Query;
  body: Body;
  /** The body as sent, and the `Idempotency-Key`. */
  keyed: KeyedRequest;
  /** The check of `If-Match`. Absent without that header. */
  precondition?: Precondition | undefined;
  /**
   * Checks the credentials again, while a streamed body arrives. Throws `UNAUTHORIZED` and
   * `FORBIDDEN`. Other operations have none: a closure for each request would keep requests
   * in memory until a full garbage collection (measured).
   */
  checkCredentials: () => Promise<void>;
}

/** An operation with its handler, which only the guard runs. */
export type GuardedOperation =
  & Operation
  & { memory?: number; isParsed?: true }
  & (
    | { permission: "none"; handler: Handler }
    | { permission: Exclude<Permission, "none">; handler: Handler<Admitted> }
  );

/**
 * A row of the table of operations. The handler gets what the row names: the valid
 * query and body, or, with the permission `none`, the request as it is. `memory` is the
 * size of the texts that it reads at once, in bytes, if they may be long. Without it, there
 * are no more texts than connections. `isParsed` if it parses texts, as operations in XML do.
 */
export function operation<
  const P extends Permission,
  const Q extends QuerySchema = typeof NoParameters,
  const B extends BodyName = never,
>(
  key: OperationKey,
  id: OperationId,
  row: Omit<Operation, "key" | "id"> & {
    permission: P;
    memory?: number;
    isParsed?: true;
    query?: Q;
    body?: B;
    handler: P extends "none" ? Handler
      : Handler<Admitted<QueryOf<Q>, BodyOf<B>>>;
  },
): GuardedOperation {
  return { key, id, ...row } as GuardedOperation;
}

/** The values of an empty query without defaults. */
const NO_QUERY = {};

/** A query of so few characters takes no time to parse, whatever it contains. */
const SHORT_QUERY = 256;

/** The part of a streamed body that is held at once, in bytes. */
const HELD_BYTES = 256 * 1024;

/** A body that arrives takes at least this memory, for the buffers of its stream (measured). */
const LEAST_BODY = 192 * 1024;

const REFUSALS: Record<keyof AuthenticatedCaller["may"], string> = {
  read: "These credentials do not permit reading",
  write: "These credentials only permit reading",
  administer: "Only the Bearer token of an admin or owner may do this",
};

/**
 * Creates the guard, which admits requests to an operation: it checks the credentials
 * and what they permit, reads the query and the headers, takes the memory that the request
 * needs, and reads the body. Throws the errors of these steps, in this order.
 */
export function createGuard(): (operation: GuardedOperation) => Handler {
  const authenticate = createAuthenticator();

  return function guard(row) {
    if (row.permission === "none") return row.handler;
    const { permission, query, body, headers = [], memory, handler } = row;
    const parameters = query ?? NoParameters;
    // Most queries of one product are empty: reading them would take as long as finding it.
    const hasDefaults = query && !isEmptyAllowed(query);
    const schema = body && bodySchema(body);
    const isStreamed = row.xml?.includes("body") || row.csv?.includes("body");
    const perByte = row.xml || row.isParsed ? PARSED : PASSED_ON;
    const hasKey = headers.includes("Idempotency-Key");
    const hasPrecondition = headers.includes("If-Match");

    const checkOf = (context: Context) => async () =>
      checkPermission(await authenticate(context), permission);

    return async (context) => {
      const { services, shares, request, url, operation, deadline } = context;
      checkReady(services);
      // Credentials that are known need no turn of the event loop.
      const found = authenticate(context);
      const caller = found instanceof Promise ? await found : found;
      context.caller = caller;
      checkPermission(caller, permission);
      const texts = new TextMemory(shares.texts, context, perByte);
      context.memory = texts;
      const admitted = admit(context, caller, row.id);
      if (url.search || hasDefaults) {
        const read = () => readQuery(parameters, url);
        admitted.query = url.search.length > SHORT_QUERY
          ? await shares.parsing.run(admitted, read)
          : read();
      }
      if (hasPrecondition) {
        admitted.precondition = preconditionOf(request.headers.get("if-match"));
      }
      if (!schema && !isStreamed) {
        if (memory) await texts.reserve(memory);
        return await handler(admitted);
      }
      const key = hasKey ? idempotencyKeyOf(request) : undefined;
      const length = schema ? jsonLength(request, services.maxBodyBytes) : HELD_BYTES;
      // A body may wait for the memory of texts, but not the other way around.
      using held = await shares.bodies.enter(
        caller,
        isStreamed ? "long" : "short",
        deadline,
        Math.max(LEAST_BODY, length * PARSED),
      );
      if (schema) {
        const { text, body } = await readBody(admitted, schema, length);
        // A body without Content-Length may have been as long as any.
        held.shrink(Math.max(LEAST_BODY, text.length * PARSED));
        admitted.keyed = { operation, key, text };
        admitted.body = body;
      } else {
        admitted.checkCredentials = checkOf(context);
      }
      if (memory) await texts.reserve(memory);
      return await withWarnings(admitted, await handler(admitted));
    };
  };
}

/** The context of an admitted request, before its query, precondition and body are read. */
function admit(context: Context, caller: AuthenticatedCaller, operation: OperationId): Admitted {
  const admitted = context as Admitted;
  admitted.query = NO_QUERY;
  admitted.author = { by: caller.by, operation, requestId: context.requestId };
  admitted.database = queriesOf(context, caller, admitted.author);
  return admitted;
}

/** Reads a JSON body. Its error has those of the references in it, too. */
async function readBody(
  admitted: Admitted,
  schema: Parameters<typeof readJson>[1],
  length: number,
): ReturnType<typeof readJson> {
  try {
    return await readJson(admitted, schema, length);
  } catch (error) {
    throw error instanceof ApiError ? await withReferences(admitted.database, error) : error;
  }
}

/** Throws `FORBIDDEN` unless the caller may do this. */
export function checkPermission(
  { may }: AuthenticatedCaller,
  permission: Exclude<Permission, "none">,
): void {
  if (!may[permission]) throw new ApiError("FORBIDDEN", REFUSALS[permission]);
}

/** Throws `SERVICE_UNAVAILABLE` while the service starts or stops. */
export function checkReady({ isReady }: Services): void {
  if (!isReady()) {
    throw unavailable("The service is starting or stopping");
  }
}

/** The replica for callers that may only read, if there is one. Otherwise the primary. */
export function queriesOf(
  { services: { database, replica }, deadline, memory }: Context,
  caller: AuthenticatedCaller,
  author: Author,
): Queries {
  const primary = database.for({ deadline, caller, author, memory });
  return replica && !caller.may.write ? replica.for({ deadline, caller, primary }) : primary;
}
