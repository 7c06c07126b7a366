import { installDemo } from "../../db/install.ts";
import { DEMO } from "../../db/sql_files.ts";
import type { Exchange } from "../../schema/openapi/examples.ts";
import { type ExampleRequest, REQUESTS } from "./example_requests.ts";
import { type App, openApp, SETTINGS } from "./harness.ts";

/*
 * The examples of the OpenAPI document are answers of the service. Run as a
 * program, this file writes them: `deno task examples`.
 */

/** The file that holds the examples. */
export const EXAMPLES = new URL(
  "../../schema/openapi/examples.json",
  import.meta.url,
);

/** The service over a new embedded database with the demo organization, and a key for it. */
export interface Demo extends App {
  key: string;
}

/** Opens the service with the demo. */
export async function openDemo(): Promise<Demo> {
  const app = await openApp({}, { ...SETTINGS, url: undefined });
  const key = await installDemo(app.database.until(performance.now() + 60_000));
  return { ...app, key: key! };
}

/** Sends the requests, and gives the text of the file of examples: the same text each time. */
export async function makeExamples(app: Demo): Promise<string> {
  const ids = { product: "", price: "", publisher: "" };
  const exchanges: Record<string, Exchange> = {};
  for (const [name, request] of Object.entries(REQUESTS)) {
    const { summary, operation, path, body }: ExampleRequest =
      typeof request === "function" ? request(ids) : request;
    const { status, body: answer } = await app.send(`/api${path}`, {
      method: operation.split(" ")[0]!,
      headers: {
        ...name !== "unauthorized" && { "x-api-key": app.key },
        "content-type": "application/json",
        "x-request-id": name,
      },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    if (status === 201) {
      const { id, product_prices } = answer.data;
      if (product_prices) {
        Object.assign(ids, { product: id, price: product_prices[0].id });
      } else ids.publisher = id;
    }
    exchanges[name] = {
      summary,
      operation,
      request: { path, body },
      status,
      answer,
    };
    // The next request gets another time.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return withFixedValues(JSON.stringify(exchanges, null, 2) + "\n");
}

/** What the service generates, and the fixed values in its place. */
const GENERATED: [RegExp, (number: string) => string][] = [
  [
    /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g,
    (number) => `01980000-0000-7000-8000-${number.padStart(12, "0")}`,
  ],
  [/\bP-\w{8}\b/g, (number) => `P-EXAMP1E${number}`],
  [
    /\d{4}-\d\d-\d\dT[\d:.]+Z/g,
    (number) => `2026-01-01T09:00:${number.padStart(2, "0")}.000Z`,
  ],
];

/** Numbers the generated values in the order of the text. Values that stand in the demo stay. */
async function withFixedValues(text: string): Promise<string> {
  const demo = await Deno.readTextFile(DEMO);
  return GENERATED.reduce((text, [pattern, fixedValue]) => {
    const values = new Map<string, string>();
    return text.replace(pattern, (value) => {
      if (demo.includes(value)) return value;
      if (!values.has(value)) {
        values.set(value, fixedValue(`${values.size + 1}`));
      }
      return values.get(value)!;
    });
  }, text);
}

if (import.meta.main) {
  await using app = await openDemo();
  await Deno.writeTextFile(EXAMPLES, await makeExamples(app));
}
