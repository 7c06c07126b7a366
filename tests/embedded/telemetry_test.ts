import { assert, assertEquals } from "@std/assert";
import { openTelemetry, SILENT } from "../../middleware/telemetry.ts";
import { type Collector, openCollector, type Span } from "../support/servers/collector.ts";
import { eventually } from "../support/app/eventually.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { launch } from "../support/app/process.ts";

/** The log line of a request. */
interface Line {
  trace_id: string;
  code?: string;
}

/** How long a response or its spans may take on a busy machine. */
const PATIENCE_MS = 15_000;

/** The service in a separate process, with a collector for its traces and metrics. */
async function start(collector: Collector) {
  const dataDir = await preparedFolder();
  const service = launch({
    DATA_DIR: dataDir,
    OTEL_DENO: "true",
    OTEL_DENO_CONSOLE: "ignore",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "200",
    OTEL_METRIC_EXPORT_INTERVAL: "500",
  }, () => ["run", "--quiet", "--no-prompt", "-A", "main.ts", "start"]);
  const printed = /(cat_\S+)\s/;
  await eventually(true, () => printed.test(service.stderr));
  const key = printed.exec(service.stderr)![1]!;

  return {
    /** Sends a request, and returns its log line. */
    async send(
      path: string,
      body?: object,
      headers?: HeadersInit,
    ): Promise<Line> {
      const requestId = crypto.randomUUID();
      const response = await fetch(`${service.origin}/api${path}`, {
        headers: {
          "x-api-key": key,
          "x-request-id": requestId,
          "content-type": "application/json",
          ...headers,
        },
        ...body && { method: "POST", body: JSON.stringify(body) },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await response.text();
      const lines = () => service.stdout.split("\n").slice(0, -1);
      const line = () => lines().find((line) => line.includes(requestId));
      await eventually(true, () => line() !== undefined);
      return JSON.parse(line()!);
    },
    async [Symbol.asyncDispose]() {
      // The service may take a while to end if its exporter still has data to send.
      service.signal("SIGKILL");
      await service.ended;
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

const POOL = "db.client.connection.pool.name";

Deno.test("OTEL_DENO=true", async ({ step: it }) => {
  await using collector = openCollector();
  await using service = await start(collector);
  const { spans, metrics } = collector;

  /** The spans of a request, each after its parent, and with its error. */
  function traceOf({ trace_id }: Line): string[] {
    const own = spans.filter(({ traceId }) => traceId === trace_id);
    return own.map((span) => {
      const parent = own.find(({ spanId }) => spanId === span.parentSpanId);
      const name = parent ? `${parent.name} > ${span.name}` : span.name;
      return span.status.code === 2 ? `${name}: ${errorOf(span)}` : name;
    });
  }

  /**
   * Sends a request, expects these spans, and returns its log line. There may be others, such
   * as the look-up of a key that was used before.
   */
  async function assertTraced(
    expected: string[],
    ...request: Parameters<typeof service.send>
  ): Promise<Line> {
    for (let tries = 3;; tries--) {
      const line = await service.send(...request);
      try {
        await eventually(
          [],
          () => expected.filter((span) => !traceOf(line).includes(span)),
          PATIENCE_MS,
        );
        return line;
      } catch (error) {
        // An export that fails is not repeated, so a busy machine may lose spans.
        if (tries === 1) throw error;
      }
    }
  }

  await it("traces a request", async () => {
    // The look-up is of the key.
    await assertTraced([
      "GET /api/products",
      "GET /api/products > authentication",
      "GET /api/products > database look-up",
      "GET /api/products > database scan",
    ], "/products?search=nothing");
    await assertTraced(
      [
        "POST /api/products",
        "POST /api/products > authentication",
        "POST /api/products > database transaction",
      ],
      "/products",
      {
        title: "Xanadu",
        product_prices: [{ currency_code: "EUR", list_price: 1 }],
      },
    );
  });

  await it("names spans after routes, not URLs", async () => {
    const missing = await assertTraced([
      "GET /api/products/{id}",
      "GET /api/products/{id} > authentication",
      "GET /api/products/{id} > database look-up",
    ], `/products/${crypto.randomUUID()}`);

    assertEquals(missing.code, "NOT_FOUND");
  });

  await it("marks the failed step with its code", async () => {
    await assertTraced(
      ["POST /api/products", "POST /api/products > authentication"],
      "/products",
      { title: "" },
    );
    await assertTraced(
      ["GET /api/products", "GET /api/products > authentication: UNAUTHORIZED"],
      "/products",
      undefined,
      { "x-api-key": "cat_" },
    );
    // The second transaction finds every error of the body.
    await assertTraced(
      [
        "POST /api/products",
        "POST /api/products > authentication",
        "POST /api/products > database transaction",
        "POST /api/products > database transaction: 23503",
      ],
      "/products",
      { title: "Xanadu", license_id: crypto.randomUUID() },
    );
  });

  await it("contains no client data", () => {
    assert(spans.length > 0);
    assert(!JSON.stringify(spans).includes("Xanadu"));
  });

  await it("measures requests, connections and errors", async () => {
    const names = [
      "http.server.request.duration",
      "http.server.active_requests",
      "db.client.connection.count",
      "db.client.connection.pending_requests",
      "catalogue.errors",
    ];
    const codes = () =>
      metrics.flatMap(({ name, sum }) => name === "catalogue.errors" ? sum?.dataPoints ?? [] : [])
        .flatMap(({ attributes }) => attributes)
        .map(({ value }) => value.stringValue);

    await eventually(
      [],
      () => names.filter((name) => !metrics.some((metric) => metric.name === name)),
    );
    await eventually(
      ["NOT_FOUND", "UNAUTHORIZED", "VALIDATION_ERROR"],
      () => [...new Set(codes())].sort(),
    );

    assertEquals(
      new Set(
        metrics.flatMap(({ name, sum, histogram }) =>
          name.startsWith("db.")
            ? (sum ?? histogram)!.dataPoints.map(({ attributes }) =>
              attributes.find(({ key }) => key === POOL)?.value.stringValue
            )
            : []
        ),
      ),
      new Set(["primary"]),
    );
  });
});

Deno.test("Traces and metrics are off by default", () => {
  assertEquals(openTelemetry(), SILENT);
});

function errorOf({ attributes }: Span): string | undefined {
  return attributes.find(({ key }) => key === "error.type")?.value.stringValue;
}
