import { isDeepStrictEqual } from "node:util";
import type { Author } from "../db/connections/transaction.ts";
import type { Queries } from "../db/database.ts";
import type { KeyedRequest } from "../db/idempotency.ts";
import type { Precondition } from "../db/entity_tag.ts";
import type { PacedView } from "../db/products/documents/projected.ts";
import { withReferenceErrors } from "../db/products/names.ts";
import { ApiError, unavailable } from "../schema/errors.ts";
import type { Operation, Permission } from "../schema/operation.ts";
import { isEmptyAllowed, NoParameters, readQuery } from "../schema/parameters.ts";
import { assertNotLeftOut, type View } from "../schema/view.ts";
import { type AuthenticatedCaller, createAuthenticator } from "./auth.ts";
import { announcesBody, type BodySchema, jsonLength, readJson } from "./body.ts";
import { preconditionOf } from "./conditional.ts";
import type { Context, Handler, Routed, Services } from "./context.ts";
import { PARSED, PASSED_ON, TextMemory } from "./memory.ts";
import { idempotencyKeyOf } from "./request.ts";
import { createViewFinder } from "./views.ts";
import { withWarnings } from "./warnings.ts";
import { MIN_BODY_BYTES, STREAMED_BODY_BYTES } from "../db/sizes.ts";

/*
 * Admits requests: checks credentials and permission, reads the query and the body, and reserves
 * memory. The handler then gets only valid parts.
 */

/** A request that the guard has admitted, with its valid parts. */
export interface Admitted<Query = unknown, Body = unknown> extends Routed, Sent<Body> {
  caller: AuthenticatedCaller;
  /** The author of the request's changes, for the history. */
  author: Author;
  /** Queries for the caller's organization, until the deadline. */
  database: Queries;
  query: Query;
  /** What the caller sees of products. Absent if it sees everything. */
  view?: View | undefined;
  /** The check of `If-Match`. Absent without that header. */
  precondition?: Precondition | undefined;
}

/** The parts of an admitted request that come from its body. */
interface Sent<Body = unknown> {
  body: Body;
  /** The body as sent, and the `Idempotency-Key`. */
  keyed: KeyedRequest;
  /**
   * Checks the credentials again, while a streamed body arrives or a long response is read. Throws
   * `UNAUTHORIZED`, `FORBIDDEN`, and `SERVICE_UNAVAILABLE` if the view has changed.
   */
  checkCredentials: () => Promise<void>;
}

/**
 * The parts of a request without a body. All such requests share them: a closure for each request
 * would keep requests in memory until a full garbage collection (measured).
 */
const NOTHING_SENT: Sent = {
  body: undefined,
  keyed: { operation: "", key: undefined, text: "" },
  checkCredentials: () => Promise.resolve(),
};

/** A request whose caller is known. */
type Known = Routed & { caller: AuthenticatedCaller };

/** The body that the headers of a request announce. */
interface Announced {
  /** The `Idempotency-Key`. */
  key: string | undefined;
  /** Its bytes, or as many as it may have. */
  length: number;
}

type CompleteErrors = (database: Queries, error: ApiError) => Promise<ApiError>;

/**
 * An operation with its handler, which only the guard runs. With `isLong`, it takes longer than a
 * request, and checks the credentials again while it runs.
 */
export type GuardedOperation =
  & Operation
  & {
    memory?: number;
    isParsed?: true;
    isLong?: true;
    /** The parameters that a key of a recipient cannot send. */
    unseen?: readonly string[];
    /** Adds to the error of an invalid body what the database refuses in it. */
    completeErrors?: CompleteErrors;
  }
  & (
    | { permission: "none"; handler: Handler }
    | { permission: Exclude<Permission, "none">; handler: Handler<Admitted> }
  );

/** The values of an empty query without defaults. */
const NO_QUERY: unknown = {};

/** Queries up to this number of characters are parsed at once: they take no time, whatever they contain. */
const SHORT_QUERY = 256;

const REFUSALS: Record<keyof AuthenticatedCaller["may"], string> = {
  view: "These credentials do not permit reading",
  read: "These credentials do not permit reading",
  write: "These credentials only permit reading",
  administer: "Only the Bearer token of an admin or owner may do this",
};

const OF_RECIPIENT = "A key of a recipient can only read products";

/**
 * Creates the guard, which admits requests to an operation: it checks the credentials
 * and what they permit, reads the query and the headers, takes the memory that the request
 * needs, and reads the body by the schema of its name. Throws the errors of these steps, in this
 * order.
 */
export function createGuard(
  bodySchema: (name: string) => BodySchema,
): (operation: GuardedOperation) => Handler {
  const authenticate = createAuthenticator();
  const findView = createViewFinder();

  return function guard(row) {
    if (row.permission === "none") return row.handler;
    const { permission, body, headers = [], memory, isBodyOptional, handler, unseen = [] } = row;
    const complete = row.completeErrors ?? withReferenceErrors;
    const parameters = row.query ?? NoParameters;
    // Most queries of one product are empty: reading them would take as long as finding it.
    const hasDefaults = !isEmptyAllowed(parameters);
    const isOfView = "recipient" in parameters.entries;
    const schema = body && bodySchema(body);
    const isStreamed = row.xml?.includes("body") || row.csv?.includes("body") ||
      row.xlsx?.includes("body");
    const perByte = row.xml || row.isParsed ? PARSED : PASSED_ON;
    const hasKey = headers.includes("Idempotency-Key");
    const hasPrecondition = headers.includes("If-Match");
    const whenEmpty = isBodyOptional ? "{}" : "";

    const checkOf = (context: Context, named?: string, view?: View) => async () => {
      const caller = await authenticate(context);
      checkPermission(caller, permission);
      if (view && !isDeepStrictEqual(view, await findView(context, caller, named))) {
        throw unavailable("The view of the recipient has changed");
      }
    };

    /** Reads the query. A short one is read at once. */
    const readParameters = (context: Known): unknown => {
      const { url, shares } = context;
      if (!url.search && !hasDefaults) return NO_QUERY;
      const read = () => readQuery(parameters, url);
      return url.search.length > SHORT_QUERY ? shares.parsing.run(context, read) : read();
    };

    /** Reads what the headers announce of the body. */
    const announcedBy = (request: Request, maxBytes: number): Announced => {
      const key = hasKey ? idempotencyKeyOf(request) : undefined;
      if (isBodyOptional && !announcesBody(request)) return { key, length: 0 };
      return { key, length: schema ? jsonLength(request, maxBytes) : STREAMED_BODY_BYTES };
    };

    const readSent = async (
      context: Known,
      database: Queries,
      schema: BodySchema,
      { key, length }: Announced,
    ): Promise<Sent> => {
      const { text, body } = await readBody(context, database, schema, length, complete, whenEmpty);
      const checkCredentials = row.isLong ? checkOf(context) : NOTHING_SENT.checkCredentials;
      return { body, keyed: { operation: context.operation, key, text }, checkCredentials };
    };

    return async (context) => {
      const { services, shares, request, url, deadline } = context;
      checkReady(services);
      // Credentials that are known need no turn of the event loop.
      const found = authenticate(context);
      const caller = found instanceof Promise ? await found : found;
      const known = Object.assign(context, { caller });
      checkPermission(caller, permission);
      if (caller.recipient && unseen.some((name) => url.searchParams.has(name))) {
        throw new ApiError("FORBIDDEN", OF_RECIPIENT);
      }
      const texts = new TextMemory(shares.texts, context, perByte);
      context.memory = texts;
      const author = { by: caller.by, operation: row.id, requestId: context.requestId };
      const database = queriesOf(context, caller, author);
      const query = await readParameters(known);
      const { recipient } = query as { recipient?: string };
      const view = isOfView && (recipient || caller.recipient)
        ? await findView(context, caller, recipient)
        : undefined;
      if (view) assertNotLeftOut(query as object, view);
      const precondition = hasPrecondition
        ? preconditionOf(request.headers.get("if-match"))
        : undefined;
      const parts = { author, database, query, view, precondition };
      if (!schema && !isStreamed) {
        if (memory) await texts.reserve(memory);
        const sent = row.isLong
          ? { ...NOTHING_SENT, checkCredentials: checkOf(context, recipient, view) }
          : NOTHING_SENT;
        return await handler(Object.assign(known, parts, sent));
      }
      const announced = announcedBy(request, services.maxBodyBytes);
      // A request that holds memory for its body may wait for that of texts, never the other way
      // around: two requests would wait for each other.
      using held = await shares.bodies.enter(
        caller,
        isStreamed ? "long" : "short",
        deadline,
        bytesOfBody(announced.length),
      );
      const sent = schema
        ? await readSent(known, database, schema, announced)
        : { ...NOTHING_SENT, checkCredentials: checkOf(context) };
      // Without Content-Length, the maximum was reserved.
      if (schema) held.shrink(bytesOfBody(sent.keyed.text.length));
      if (memory) await texts.reserve(memory);
      const admitted = Object.assign(known, parts, sent);
      return await withWarnings(admitted, await handler(admitted));
    };
  };
}

/** The memory that a body of this length takes, in bytes. */
function bytesOfBody(length: number): number {
  return Math.max(MIN_BODY_BYTES, length * PARSED);
}

/** Reads a JSON body. If it is invalid, the error also lists the errors of its references. */
async function readBody(
  context: Known,
  database: Queries,
  schema: BodySchema,
  length: number,
  complete: CompleteErrors,
  whenEmpty: string,
): ReturnType<typeof readJson> {
  try {
    return await readJson(context, schema, length, whenEmpty);
  } catch (error) {
    throw error instanceof ApiError ? await complete(database, error) : error;
  }
}

/** The view of a request, with its pace, or undefined without one. */
export function pacedView({ view, shares, caller }: Admitted): PacedView | undefined {
  return view && { view, pace: shares.parsing.pacer(caller) };
}

/** Throws `FORBIDDEN` unless the caller may do this. */
export function checkPermission(
  { may, recipient }: AuthenticatedCaller,
  permission: Exclude<Permission, "none">,
): void {
  if (may[permission]) return;
  throw new ApiError("FORBIDDEN", recipient ? OF_RECIPIENT : REFUSALS[permission]);
}

/** Throws `SERVICE_UNAVAILABLE` while the service starts or stops. */
export function checkReady({ isReady }: Services): void {
  if (!isReady()) {
    throw unavailable("The service is starting or stopping");
  }
}

/**
 * Returns the queries of a request: of the replica, if there is one and the caller may only read,
 * otherwise of the primary.
 */
export function queriesOf(
  { services: { database, replica }, deadline, memory }: Context,
  caller: AuthenticatedCaller,
  author: Author,
): Queries {
  const primary = database.for({ deadline, caller, author, memory });
  return replica && !caller.may.write ? replica.for({ deadline, caller, primary }) : primary;
}
