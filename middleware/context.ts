import type { Caller } from "../db/connections/queue.ts";
import type { Database, Queries } from "../db/database.ts";
import type { Replica } from "../db/replica.ts";
import type { Log } from "./log.ts";
import type { MemoryBudget } from "./memory_budget.ts";
import type { Telemetry } from "./telemetry.ts";
import type { Timing } from "./timing.ts";
import type { TokenVerifier } from "./jwt.ts";
import type { Turns } from "./turns.ts";

/** The parts of the service. `main.ts` and the tests assemble them. */
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
  /** The time limit for a body to arrive. Deno has none. */
  bodyTimeoutMs: number;
  /** The time limit for a request to wait for the database and use it. */
  deadlineMs: number;
  /** The time limit for a client to read a chunk of a long response. */
  sendTimeoutMs: number;
  /** Whether the service accepts requests, as `/health/ready` reports. */
  isReady: () => boolean;
}

/** A request in progress. */
export interface Context {
  services: Services;
  request: Request;
  /** The parameters of the path, such as the `id` of `/products/{id}`. */
  params: Record<string, string | undefined>;
  /** Whether the handler reads the query. Otherwise the query must be empty. */
  takesQuery: boolean;
  /** The latest time of the response, in milliseconds of `performance.now()`. */
  deadline: number;
  memory: Memory;
  turns: Turns;
  facts: Facts;
  timing: Timing;
}

/** What is known about a request for its log line and its memory. */
export interface Facts {
  /** Absent without valid credentials. */
  caller?: Caller;
  api_key?: string;
  /** The ignored fields of the body. The response lists them too. */
  ignored_fields?: string[];
}

/** The memory that requests share. */
export interface Memory {
  bodies: MemoryBudget;
  /** Long responses that clients have not read yet. */
  answers: MemoryBudget;
}

/** A request with an authenticated caller. */
export interface Authenticated extends Context {
  /** Database operations for the caller's organization, until the deadline. */
  database: Queries;
}

/** The contents of a `Response`. The body is JSON text, or bytes shared by responses. */
export interface Answer {
  status: number;
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

export type Handler<C extends Context = Context> = (
  context: C,
) => Answer | Promise<Answer>;
