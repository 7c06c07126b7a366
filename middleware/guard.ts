import type { Caller } from "../db/connections/queue.ts";
import type { Queries } from "../db/database.ts";
import type { KeyedRequest } from "../db/idempotency.ts";
import type { Precondition } from "../db/entity_tag.ts";
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
  NoParameters,
  type QueryOf,
  type QuerySchema,
  readQuery,
} from "../schema/parameters.ts";
import { type AuthenticatedCaller, createAuthenticator } from "./auth.ts";
import { readBody } from "./body.ts";
import { preconditionOf } from "./conditional.ts";
import type { Context, Handler, Routed, Services } from "./context.ts";
import { idempotencyKeyOf } from "./request.ts";

/** A request that the guard has admitted, with its valid parts. */
export interface Admitted<Query = unknown, Body = unknown> extends Routed {
  caller: Caller;
  /** Queries for the caller's organization, until the deadline. */
  database: Queries;
  query: Query;
  body: Body;
  /** The body as sent, and the `Idempotency-Key`. */
  keyed: KeyedRequest;
  /** The check of `If-Match`. Absent without that header. */
  precondition?: Precondition | undefined;
}

/** An operation with its handler, which only the guard runs. */
export type GuardedOperation =
  & Operation
  & { memory?: MemoryNeeds }
  & (
    | { permission: "none"; handler: Handler }
    | { permission: Exclude<Permission, "none">; handler: Handler<Admitted> }
  );

/**
 * The memory of an operation, in bytes, which it reserves before it runs. Without it, an
 * operation reads short texts, of which there are no more than connections.
 */
export interface MemoryNeeds {
  /** The size of the text that it reads at once. It waits again for the memory of a longer one. */
  text?: number;
  /** What a byte of a text takes until the response. Default: three copies. */
  copies?: number;
}

/**
 * A row of the table of operations. The handler gets what the row names: the valid
 * query and body, or, with the permission `none`, the request as it is.
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
    memory?: MemoryNeeds;
    query?: Q;
    body?: B;
    handler: P extends "none" ? Handler
      : Handler<Admitted<QueryOf<Q>, BodyOf<B>>>;
  },
): GuardedOperation {
  return { key, id, ...row } as GuardedOperation;
}

/** What a byte of a body takes until its response: its text, its values, and the parameters of statements. */
const BODY_COPIES = 6;

const REFUSALS: Record<keyof AuthenticatedCaller["may"], string> = {
  read: "These credentials do not permit reading",
  write: "These credentials only permit reading",
  administer: "Only the Bearer token of an admin or owner may do this",
};

/**
 * Creates the guard, which admits requests to an operation: it checks the credentials
 * and what they permit, then reads the query, the headers and the body. Throws the
 * errors of these steps, in this order.
 */
export function createGuard(): (operation: GuardedOperation) => Handler {
  const authenticate = createAuthenticator();

  return function guard(row) {
    if (row.permission === "none") return row.handler;
    const { permission, query, body, headers = [], memory, handler } = row;
    const parameters = query ?? NoParameters;
    const schema = body && bodySchema(body);
    const isStreamed = row.xml?.includes("body");
    const hasKey = headers.includes("Idempotency-Key");
    const hasPrecondition = headers.includes("If-Match");

    return async (context) => {
      const { services, shares, request, url, operation, deadline } = context;
      checkReady(services);
      const caller = await authenticate(context);
      context.caller = caller;
      if (!caller.may[permission]) {
        throw new ApiError("FORBIDDEN", REFUSALS[permission]);
      }
      const texts = shares.responses.open(caller, deadline, memory?.copies);
      context.memory = texts;
      const admitted = context as Admitted;
      admitted.database = queriesOf(context, caller);
      if (query || url.search) {
        const { length } = url.search;
        const read = () => readQuery(parameters, url);
        // Defaults take no turn.
        admitted.query = length > 0
          ? await shares.parsing.run({ caller, deadline, length }, read)
          : read();
      }
      if (hasPrecondition) {
        admitted.precondition = preconditionOf(request.headers.get("if-match"));
      }
      if (isStreamed) {
        const response = await handler(admitted);
        // The body may have taken longer than a request: its response has time of its own.
        texts.deadline = performance.now() + services.deadlineMs;
        return response;
      }
      if (!schema) {
        if (memory?.text) await texts.reserve(memory.text);
        return await handler(admitted);
      }
      // The handler works on the body, so the memory is held until its response.
      using bodies = shares.bodies.open(caller, deadline, BODY_COPIES);
      const key = hasKey ? idempotencyKeyOf(request) : undefined;
      const { text, body } = await readBody(admitted, schema, bodies);
      if (memory?.text) await texts.reserve(memory.text);
      admitted.keyed = { operation, key, text };
      admitted.body = body;
      return await handler(admitted);
    };
  };
}

/** Throws `SERVICE_UNAVAILABLE` while the service starts or stops. */
export function checkReady({ isReady }: Services): void {
  if (!isReady()) {
    throw unavailable("The service is starting or stopping");
  }
}

/** The replica for callers that may only read, if there is one. Otherwise the primary. */
function queriesOf(
  { services: { database, replica }, deadline, memory }: Context,
  caller: AuthenticatedCaller,
): Queries {
  const primary = database.for({ deadline, caller, memory });
  return replica && !caller.may.write
    ? replica.for({ deadline, caller, primary })
    : primary;
}
