import type { Load } from "../db/connections/queue.ts";
import type { ErrorCode } from "../schema/errors.ts";

/** What the service adds to the traces and metrics that Deno makes itself. */
export interface Telemetry {
  /** Names the span of the request by its route. */
  routed(method: string, path: string): void;
  /** Runs a part of the request as a span of its own. */
  span<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** The id of the request's trace, if it has one. */
  traceId(): string | undefined;
  failed(code: ErrorCode): void;
  /** Measures how the connections of a pool are used. */
  measure(pool: string, connections: { readonly load: Load }): void;
}

/** The telemetry of a process without OpenTelemetry. */
export const SILENT: Telemetry = {
  routed() {},
  span: (_name, work) => work(),
  traceId: () => undefined,
  failed() {},
  measure() {},
};

/** Where Deno registers its OpenTelemetry with `OTEL_DENO=true`. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** The key of the current span in a context. */
const CURRENT_SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/** `SpanStatusCode.ERROR` */
const ERROR = 2;

/** Telemetry by the OpenTelemetry that is built into Deno, named by its semantic conventions. */
export function openTelemetry(): Telemetry {
  const api: OpenTelemetry | undefined = Reflect.get(globalThis, REGISTERED);
  if (!api) return SILENT;
  const tracer = api.trace.getTracer("catalogue");
  const meter = api.metrics?.getMeter("catalogue");
  const errors = meter?.createCounter("catalogue.errors");
  const used = meter?.createObservableUpDownCounter(
    "db.client.connection.count",
  );
  const waiting = meter?.createObservableUpDownCounter(
    "db.client.connection.pending_requests",
  );
  const current = () =>
    api.context.active().getValue(CURRENT_SPAN) as Span | undefined;

  return {
    routed(method, path) {
      current()?.updateName(`${method} ${path}`);
      current()?.setAttribute("http.route", path);
    },
    span: (name, work) =>
      tracer.startActiveSpan(name, async (span) => {
        try {
          return await work();
        } catch (error) {
          // Only the kind of error: its message may quote what a client sent.
          const { code, name } = error as { code?: string; name?: string };
          span.setAttribute("error.type", String(code ?? name));
          span.setStatus({ code: ERROR });
          throw error;
        } finally {
          span.end();
        }
      }),
    traceId: () => current()?.spanContext().traceId,
    failed: (code) => errors?.add(1, { "error.type": code }),
    measure(pool, connections) {
      const attributes = { "db.client.connection.pool.name": pool };
      used?.addCallback((result) =>
        result.observe(connections.load.used, {
          ...attributes,
          "db.client.connection.state": "used",
        })
      );
      waiting?.addCallback((result) =>
        result.observe(connections.load.waiting, attributes)
      );
    },
  };
}

/** The part of OpenTelemetry's JavaScript API that is used here. */
interface OpenTelemetry {
  trace: {
    getTracer(name: string): {
      startActiveSpan<T>(name: string, work: (span: Span) => T): T;
    };
  };
  context: { active(): { getValue(key: symbol): unknown } };
  /** Absent with `OTEL_DENO_METRICS=false`. */
  metrics?: {
    getMeter(name: string): {
      createCounter(name: string): { add: Observe };
      createObservableUpDownCounter(name: string): {
        addCallback(observe: (result: { observe: Observe }) => void): void;
      };
    };
  };
}

interface Span {
  spanContext(): { traceId: string };
  updateName(name: string): void;
  setAttribute(name: string, value: string): void;
  setStatus(status: { code: number }): void;
  end(): void;
}

type Observe = (value: number, attributes: Record<string, string>) => void;
