import type { Database } from "../db/database.ts";
import type { Watch } from "../db/watch.ts";
import type { ErrorCode } from "../schema/error.ts";

/** What the traces and metrics of the service are told. */
export interface Telemetry {
  /** For `openDatabase`; absent where nobody would see it. */
  watch?: Watch;
  /** Goes on measuring how the connections are used. */
  measure(database: Database): void;
  /** Runs a part of a request as a span of its trace. */
  span<T>(name: string, work: () => T | Promise<T>): T | Promise<T>;
  /** Names the trace of the request by its route. */
  routed(method: string, path: string): void;
  /** The id of the request's trace, if it has one. */
  traceId(): string | undefined;
  failed(code: ErrorCode): void;
}

/** Where nobody wants to know. */
export const SILENT: Telemetry = {
  measure() {},
  span: (_name, work) => work(),
  routed() {},
  traceId: () => undefined,
  failed() {},
};
