import { SILENT, type Telemetry } from "./telemetry.ts";

/** Where OpenTelemetry keeps what was registered; Deno registers itself with `OTEL_DENO=true`. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** Under which the current span stands in a context. */
const CURRENT_SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/** The attribute that tells pools apart. */
const POOL = "db.client.connection.pool.name";

const CLIENT = 2;
const ERROR = 2;

/**
 * Traces and metrics by the OpenTelemetry that is built into Deno, named by its
 * semantic conventions; silent where it is off. Deno itself begins the trace of
 * a request, and measures requests.
 */
export function openTelemetry(): Telemetry {
  const registered: OpenTelemetry | undefined = Reflect.get(
    globalThis,
    REGISTERED,
  );
  if (!registered) return SILENT;
  const { context } = registered;
  const tracer = registered.trace.getTracer("catalogue");
  const meter = registered.metrics?.getMeter("catalogue");
  const waits = meter?.createHistogram("db.client.connection.wait_time", {
    description: "Time that an operation waited for a connection",
    unit: "s",
    advice: { explicitBucketBoundaries: [.001, .005, .01, .05, .1, .5, 1, 5] },
  });
  const used = meter?.createObservableUpDownCounter(
    "db.client.connection.count",
    { description: "Connections in use", unit: "{connection}" },
  );
  const pending = meter?.createObservableUpDownCounter(
    "db.client.connection.pending_requests",
    {
      description: "Operations that wait for a connection",
      unit: "{request}",
    },
  );
  const errors = meter?.createCounter("catalogue.errors", {
    description: "Requests that failed, by error code",
    unit: "{request}",
  });

  function current(): Span | undefined {
    return context.active().getValue(CURRENT_SPAN) as Span | undefined;
  }

  return {
    watch: (server) => ({
      waited: (ms) => waits?.record(ms / 1000, { [POOL]: server }),
      sent(name) {
        const span = tracer.startSpan(name, {
          kind: CLIENT,
          attributes: {
            "db.system.name": "postgresql",
            "db.query.summary": name,
          },
        });
        return (error) => ended(span, error);
      },
    }),
    measure(server, connections) {
      const pool = { [POOL]: server };
      used?.addCallback((result) =>
        result.observe(connections.load.used, {
          ...pool,
          "db.client.connection.state": "used",
        })
      );
      pending?.addCallback((result) =>
        result.observe(connections.load.waiting, pool)
      );
    },
    span: (name, work) =>
      tracer.startActiveSpan(name, async (span) => {
        try {
          const result = await work();
          ended(span);
          return result;
        } catch (error) {
          ended(span, error);
          throw error;
        }
      }),
    routed(method, path) {
      const span = current();
      span?.updateName(`${method} ${path}`);
      span?.setAttribute("http.route", path);
    },
    traceId: () => current()?.spanContext().traceId,
    failed: (code) => errors?.add(1, { "error.type": code }),
  };
}

/** Of an error only what kind it is: its message may quote what a client sent. */
function ended(span: Span, error?: unknown): void {
  if (error !== undefined) {
    const { code, name } = error as { code?: string; name?: string };
    span.setAttribute("error.type", String(code ?? name));
    span.setStatus({ code: ERROR });
  }
  span.end();
}

/** The part of OpenTelemetry's JavaScript API that is used here. */
interface OpenTelemetry {
  trace: { getTracer(name: string): Tracer };
  context: { active(): { getValue(key: symbol): unknown } };
  /** Absent with `OTEL_DENO_METRICS=false`. */
  metrics?: { getMeter(name: string): Meter };
}

interface Tracer {
  startSpan(name: string, options?: SpanOptions): Span;
  startActiveSpan<T>(name: string, work: (span: Span) => T): T;
}

interface SpanOptions {
  kind: number;
  attributes: Record<string, string>;
}

interface Span {
  spanContext(): { traceId: string };
  updateName(name: string): void;
  setAttribute(name: string, value: string): void;
  setStatus(status: { code: number }): void;
  end(): void;
}

interface Meter {
  createCounter(name: string, options: MetricOptions): {
    add(value: number, attributes: Record<string, string>): void;
  };
  createHistogram(name: string, options: MetricOptions): {
    record(value: number, attributes: Record<string, string>): void;
  };
  createObservableUpDownCounter(name: string, options: MetricOptions): {
    addCallback(observe: (result: Observation) => void): void;
  };
}

interface MetricOptions {
  description: string;
  unit: string;
  advice?: { explicitBucketBoundaries: number[] };
}

interface Observation {
  observe(value: number, attributes: Record<string, string>): void;
}
