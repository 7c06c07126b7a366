import type { Database, Operations } from "../db/database.ts";
import type { Replica } from "../db/replica.ts";
import type { Log } from "./log.ts";
import type { MemoryBudget } from "./memory_budget.ts";
import type { Telemetry } from "./telemetry.ts";
import type { Timing } from "./timing.ts";
import type { TokenVerifier } from "./token.ts";

/** What the service is made of; `main.ts` and the tests put it together. */
export interface Services {
  database: Database;
  /** Absent where none is configured: then the database answers every read. */
  replica?: Replica | undefined;
  /** Absent where no tokens are configured: then every Bearer token is refused. */
  verifyToken?: TokenVerifier | undefined;
  log: Log;
  telemetry: Telemetry;
  /** The path before `/products`, such as `/api`; may be empty. */
  apiPrefix: string;
  /** The origins whose pages may read answers; none by default. */
  corsOrigins: readonly string[];
  /** Whether the reference page is served at `/docs`. */
  docs: boolean;
  maxBodyBytes: number;
  /** How long a body may take to arrive: the server itself would wait for ever. */
  bodyArrivalMs: number;
  /** How long a request may wait for the database and use it, all in all. */
  deadlineMs: number;
  /** How long a client may take for each part of a long answer. */
  answerPatienceMs: number;
  /** Whether the service still takes work; `/health/ready` says so. */
  isReady: () => boolean;
}

/** One request on its way to its answer. */
export interface Context {
  services: Services;
  request: Request;
  /** The groups of the path, such as the `id` of `/products/:id`. */
  params: Record<string, string | undefined>;
  /** By when the request is answered, in milliseconds of `performance.now()`. */
  deadline: number;
  memory: Memory;
  /** What is known about the request so far, for its line in the log. */
  facts: Facts;
  timing: Timing;
}

export interface Facts {
  organization_id?: string;
  api_key?: string;
  /** The fields of the body that were accepted and ignored; the response names them. */
  ignored_fields?: string[];
}

/** The memory that requests share. */
export interface Memory {
  bodies: MemoryBudget;
  /** Long answers that their clients have not taken yet. */
  answers: MemoryBudget;
}

/** A request whose caller is known. */
export interface Authenticated extends Context {
  /** The database, for the caller's organization and until the deadline. */
  database: Operations;
}

/** An answer before it becomes a `Response`: the body is JSON text, or bytes that many answers share. */
export interface Answer {
  status: number;
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  headers?: Record<string, string> | undefined;
}

export type Handler<C extends Context = Context> = (
  context: C,
) => Answer | Promise<Answer>;
