import type { Load } from "../db/connections/queue.ts";
import type { Watch } from "../db/connections/tracing.ts";
import type { ErrorCode } from "../schema/errors.ts";

/** Which of the databases. */
export type Server = "primary" | "replica";

/** What the traces and metrics of the service are told. */
export interface Telemetry {
  /** For the connections to one of the two; absent where nobody would see it. */
  watch(server: Server): Watch | undefined;
  /** Goes on measuring how the connections to each are used. */
  measure(server: Server, connections: { readonly load: Load }): void;
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
  watch: () => undefined,
  measure() {},
  span: (_name, work) => work(),
  routed() {},
  traceId: () => undefined,
  failed() {},
};
