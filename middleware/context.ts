import type { ErrorDetail } from "../schema/errors.ts";
import type { Ignored } from "../schema/ignored.ts";
import type { Caller, Queue } from "../db/connections/queue.ts";
import type { Database } from "../db/database.ts";
import type { Replica } from "../db/replica.ts";
import type { PathParameters } from "../schema/operation.ts";
import type { TokenVerifier } from "./jwt.ts";
import type { Log } from "./log.ts";
import type { TextMemory } from "./memory.ts";
import type { Telemetry } from "./telemetry.ts";
import type { ParseQueue } from "./parse_queue.ts";

/*
 * The data of a request on its way: the services that it uses, what routing and guard add, and the
 * response of its handler.
 */

/** The parts of the service, as `routes/service.ts` and the tests assemble them. A feature adds its own by declaring it. */
export interface Services {
  database: Database;
  /** Absent if none is configured. */
  replica?: Replica;
  /** Absent if no tokens are configured. Every Bearer token is then refused. */
  verifyToken?: TokenVerifier;
  log: Log;
  telemetry: Telemetry;
  /** The path before `/products`, such as `/api`. It may be empty. */
  apiPrefix: string;
  /** The origins whose pages may read responses. */
  corsOrigins: readonly string[];
  /** Whether the reference page is served at `/docs`. */
  docs: boolean;
  maxBodyBytes: number;
  /** The limit of an ONIX message, which is read as it arrives. */
  maxOnixBytes: number;
  /** The time limit for a body to arrive. Deno has none. */
  bodyTimeoutMs: number;
  /** The time limit for a request to wait for the database and use it. */
  deadlineMs: number;
  /** The time limit for a client to read a chunk of a long response. */
  sendTimeoutMs: number;
  /** Whether the service accepts requests, as `/health/ready` reports. */
  isReady: () => boolean;
}

/** The supplies that requests share fairly. */
export interface Shares {
  /** The memory for bodies until their responses. Imports may arrive slowly, and leave a part to others. */
  bodies: Queue;
  /** The memory for long texts, from the database to the client, and for groups of an import. */
  texts: Queue;
  parsing: ParseQueue;
  /** The memory for sheets, which are kept until all rows are written. */
  sheets: Queue;
}

/** A request in progress. Routing and guard add what they find. */
export interface Context {
  services: Services;
  shares: Shares;
  request: Request;
  requestId: string;
  /** The latest time of the response, in milliseconds of `performance.now()`. */
  deadline: number;
  /** Absent without valid credentials. */
  caller?: Caller;
  /** The memory for long texts. Absent without valid credentials. */
  memory?: TextMemory;
  log: RequestLog;
  /** The fields of the body that were ignored. */
  ignored?: Ignored[];
  /** The warnings about the content of the body. */
  warnings?: ErrorDetail[];
}

/** A request whose path and method are those of an operation. */
export interface Routed extends Context {
  url: URL;
  /** Such as `PUT /licenses/{id}`. */
  operation: string;
  /** The pattern of the path guarantees those that the path names. */
  params: PathParameters;
}

/** The fields of a request's log line that only some requests have. */
export interface RequestLog {
  api_key?: string;
  /** The number of records of an import, by outcome. */
  records?: Record<string, number>;
}

/**
 * The contents of a `Response`. The body is text, in JSON unless the headers have another
 * type, or bytes shared by responses.
 */
export interface HandlerResponse {
  status: number;
  body?: string | Uint8Array<ArrayBuffer>;
  /** A long text, or bytes, instead of the body, made as the client reads it. */
  parts?: AsyncGenerator<string | Uint8Array>;
  /** Resources that the parts need until they have ended, besides the memory for long texts. */
  held?: Disposable;
  headers?: Record<string, string>;
}

export type Handler<C extends Context = Routed> = (
  context: C,
) => HandlerResponse | Promise<HandlerResponse>;
