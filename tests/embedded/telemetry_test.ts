import { assert, assertEquals } from "@std/assert";
import { openTelemetry, SILENT } from "../../middleware/telemetry.ts";
import { freePort } from "../support/app/port.ts";
import {
  type Collector,
  openCollector,
  type Span,
} from "../support/app/collector.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";

/** The log line of a request. */
interface Line {
  trace_id: string;
  code?: string;
}

/** The service in a separate process, with a collector for its traces and metrics. */
async function start(collector: Collector) {
  const dataDir = await preparedFolder();
  const port = freePort();
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "-A", "main.ts", "start"],
    cwd: new URL("../../", import.meta.url),
    env: {
      DATABASE_URL: "",
      DATA_DIR: dataDir,
      PORT: String(port),
      OTEL_DENO: "true",
      OTEL_DENO_CONSOLE: "ignore",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "200",
      OTEL_METRIC_EXPORT_INTERVAL: "500",
    },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [log, messages] = [process.stdout, process.stderr].map(readerOf);
  const key = await messages!.until(/(cat_\S+)/);

  return {
    /** Sends a request, and returns its log line. */
    async send(
      path: string,
      body?: object,
      headers?: HeadersInit,
    ): Promise<Line> {
      const requestId = crypto.randomUUID();
      const response = await fetch(`http://127.0.0.1:${port}/api${path}`, {
        headers: {
          "x-api-key": key,
          "x-request-id": requestId,
          "content-type": "application/json",
          ...headers,
        },
        ...body && { method: "POST", body: JSON.stringify(body) },
      });
      await response.text();
      return JSON.parse(
        await log!.until(new RegExp(`(\\{[^\\n]*${requestId}[^\\n]*\\})\\n`)),
      ) as Line;
    },
    async [Symbol.asyncDispose]() {
      // The service may take a while to end if its exporter still has data to send.
      process.kill("SIGKILL");
      await process.status;
      await Promise.all([log!.cancel(), messages!.cancel()]);
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

/** Reads an output up to a pattern, and returns its group. */
function readerOf(output: ReadableStream<Uint8Array>) {
  const reader = output.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  return {
    async until(pattern: RegExp): Promise<string> {
      while (!pattern.test(said)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`The service ended: ${said}`);
        said += value;
      }
      return pattern.exec(said)![1]!;
    },
    cancel: () => reader.cancel(),
  };
}

const POOL = "db.client.connection.pool.name";

Deno.test("OTEL_DENO=true", async (t) => {
  await using collector = openCollector();
  await using service = await start(collector);
  const { spans, metrics } = collector;

  /** The spans of a request, each after its parent. */
  async function traceOf({ trace_id }: Line, size: number) {
    const own = () => spans.filter(({ traceId }) => traceId === trace_id);
    await collector.until(() => own().length >= size);
    return own().map(({ name, parentSpanId }) => {
      const parent = own().find(({ spanId }) => spanId === parentSpanId);
      return parent ? `${parent.name} > ${name}` : name;
    }).sort();
  }

  await t.step("traces a request", async () => {
    const first = await service.send("/products?search=nothing");
    const created = await service.send("/products", {
      title: "Xanadu",
      product_prices: [{ currency_code: "EUR", list_price: 1 }],
    });

    // The look-ups are of the key, and of whether products wait to be indexed.
    assertEquals(await traceOf(first, 5), [
      "GET /api/products",
      "GET /api/products > authentication",
      "GET /api/products > database look-up",
      "GET /api/products > database look-up",
      "GET /api/products > database scan",
    ]);
    assertEquals(await traceOf(created, 3), [
      "POST /api/products",
      "POST /api/products > authentication",
      "POST /api/products > database transaction",
    ]);
  });

  await t.step("names spans after routes, not URLs", async () => {
    const id = crypto.randomUUID();

    const missing = await service.send(`/products/${id}`);

    assertEquals(missing.code, "NOT_FOUND");
    assertEquals(await traceOf(missing, 3), [
      "GET /api/products/{id}",
      "GET /api/products/{id} > authentication",
      "GET /api/products/{id} > database look-up",
    ]);
  });

  await t.step("marks the failed step with its code", async () => {
    const wrong = await service.send("/products", { title: "" });
    const unknown = await service.send("/products", undefined, {
      "x-api-key": "cat_",
    });

    const unlicensed = await service.send("/products", {
      title: "Xanadu",
      license_id: crypto.randomUUID(),
    });

    await traceOf(wrong, 2);
    await traceOf(unknown, 2);
    await traceOf(unlicensed, 3);
    const failed = spans.filter(({ status }) => status.code === 2);
    assertEquals(failed.map(({ name }) => name), [
      "authentication",
      "database transaction",
    ]);
    assertEquals(failed.map(errorOf), ["UNAUTHORIZED", "23503"]);
  });

  await t.step("contains no client data", () => {
    assert(spans.length > 0);
    assert(!JSON.stringify(spans).includes("Xanadu"));
  });

  await t.step(
    "measures requests, connections and errors",
    async () => {
      const names = [
        "http.server.request.duration",
        "http.server.active_requests",
        "db.client.connection.count",
        "db.client.connection.pending_requests",
        "catalogue.errors",
      ];
      const codes = () =>
        metrics.flatMap(({ name, sum }) =>
          name === "catalogue.errors" ? sum?.dataPoints ?? [] : []
        ).flatMap(({ attributes }) => attributes)
          .map(({ value }) => value.stringValue);

      await collector.until(() =>
        names.every((name) => metrics.some((metric) => metric.name === name)) &&
        codes().includes("UNAUTHORIZED")
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
      assertEquals([...new Set(codes())].sort(), [
        "NOT_FOUND",
        "UNAUTHORIZED",
        "VALIDATION_ERROR",
      ]);
    },
  );
});

Deno.test("Traces and metrics are off by default", () => {
  assertEquals(openTelemetry(), SILENT);
});

function errorOf({ attributes }: Span): string | undefined {
  return attributes.find(({ key }) => key === "error.type")?.value.stringValue;
}
