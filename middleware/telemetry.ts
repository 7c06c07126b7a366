import type { Load } from "../db/connections/queue.ts";
import type { ErrorCode } from "../schema/errors.ts";

/* Adds spans and metrics to Deno's OpenTelemetry, if it is enabled. */

/** Additions to Deno's own traces and metrics. */
export interface Telemetry {
  /** Names the span of the request after its route. */
  routed(method: string, path: string): void;
  /** Starts the span of a part of the request. Call the result at its end. */
  start(name: string): (error?: unknown) => void;
  /** The id of the request's trace, if there is one. */
  traceId(): string | undefined;
  failed(code: ErrorCode): void;
  /** Reports the load of a connection pool. */
  measure(pool: string, connections: { readonly load: Load }): void;
}

/** Telemetry without OpenTelemetry: it does nothing. */
export const SILENT: Telemetry = {
  routed() {},
  start: () => () => {},
  traceId: () => undefined,
  failed() {},
  measure() {},
};

/** The key of the global API that Deno sets if `OTEL_DENO=true`. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const CURRENT_SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/** Telemetry through Deno's OpenTelemetry, named by its semantic conventions. */
export function openTelemetry(): Telemetry {
  const api: OpenTelemetry | undefined = Reflect.get(globalThis, REGISTERED);
  if (!api) return SILENT;
  const tracer = api.trace.getTracer("catalogue");
  const meter = api.metrics?.getMeter("catalogue");
  const errors = meter?.createCounter("catalogue.errors");
  const gauge = (name: string) =>
    meter?.createObservableUpDownCounter(`db.client.connection.${name}`);
  const used = gauge("count");
  const waiting = gauge("pending_requests");
  const current = () => api.context.active().getValue(CURRENT_SPAN) as Span | undefined;
  return {
    routed(method, path) {
      current()?.updateName(`${method} ${path}`);
      current()?.setAttribute("http.route", path);
    },
    start(name) {
      const span = tracer.startSpan(name);
      return (error) => {
        if (error) {
          // Omits the message, which may quote client data.
          const { code, name } = error as { code?: string; name?: string };
          span.setAttribute("error.type", String(code ?? name));
          span.setStatus({ code: 2 }); // SpanStatusCode.ERROR
        }
        span.end();
      };
    },
    traceId: () => current()?.spanContext().traceId,
    failed: (code) => errors?.add(1, { "error.type": code }),
    measure(pool, connections) {
      const of = { "db.client.connection.pool.name": pool };
      const inUse = { ...of, "db.client.connection.state": "used" };
      used?.addCallback((to) => to.observe(connections.load.used, inUse));
      waiting?.addCallback((to) => to.observe(connections.load.waiting, of));
    },
  };
}

/** The part of OpenTelemetry's JavaScript API that this file uses. */
interface OpenTelemetry {
  trace: { getTracer(name: string): Tracer };
  context: { active(): { getValue(key: symbol): unknown } };
  /** Absent if `OTEL_DENO_METRICS=false`. */
  metrics?: {
    getMeter(name: string): {
      createCounter(name: string): { add: Measure };
      createObservableUpDownCounter(name: string): {
        addCallback(report: (to: { observe: Measure }) => void): void;
      };
    };
  };
}

interface Tracer {
  startSpan(name: string): Span;
}

interface Span {
  spanContext(): { traceId: string };
  updateName(name: string): void;
  setAttribute(name: string, value: string): void;
  setStatus(status: { code: number }): void;
  end(): void;
}

type Measure = (value: number, attributes: Record<string, string>) => void;
