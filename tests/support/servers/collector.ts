/** An OpenTelemetry collector for JSON over HTTP, which stores what it receives. */
export interface Collector extends AsyncDisposable {
  endpoint: string;
  spans: Span[];
  metrics: Metric[];
}

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  status: { code: number };
  attributes: Attribute[];
}

export interface Metric {
  name: string;
  sum?: Points;
  histogram?: Points;
}

interface Points {
  dataPoints: { attributes: Attribute[] }[];
}

interface Attribute {
  key: string;
  value: { stringValue?: string };
}

interface Sent {
  resourceSpans?: { scopeSpans: { spans: Span[] }[] }[];
  resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[];
}

/** Starts a collector on a free port. */
export function openCollector(): Collector {
  const spans: Span[] = [];
  const metrics: Metric[] = [];

  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    async (request) => {
      const { resourceSpans = [], resourceMetrics = [] }: Sent = await request
        .json();
      for (const { scopeSpans } of resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      for (const { scopeMetrics } of resourceMetrics) {
        for (const scope of scopeMetrics) metrics.push(...scope.metrics);
      }
      return Response.json({});
    },
  );

  return {
    endpoint: `http://127.0.0.1:${server.addr.port}`,
    spans,
    metrics,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
