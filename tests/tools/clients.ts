import { openDemo } from "../support/examples/record.ts";
import { runTool } from "../support/app/tools.ts";

/*
 * Checks the OpenAPI document with the tools that people use: it passes three linters
 * without a warning, and the clients of five generators compile under strict TypeScript.
 * Postman's collection gets no response that the document causes.
 *
 *     deno task clients
 */

const FOLDER = new URL("clients/", import.meta.url).pathname;

const GENERATED = `${FOLDER}generated`;

const DOCUMENT = "./generated/openapi.json";

/** The error of a request that no description could prevent, by status, code and first detail. */
const UNPREVENTED: Readonly<Record<string, string>> = {
  // Only a response has a valid cursor.
  "Follow the changes of products": "400 VALIDATION_ERROR invalid_cursor",
  "Follow the changes of products in ONIX": "400 VALIDATION_ERROR invalid_cursor",
  "List deleted products": "400 VALIDATION_ERROR invalid_cursor",
  "Follow the history of all products": "400 VALIDATION_ERROR invalid_cursor",
  // Postman sends both ways to choose a version.
  "Get a product": "400 VALIDATION_ERROR contradictory",
  // The product of the demo is not deleted, and only a response has its versions.
  "Restore a product": "400 VALIDATION_ERROR required",
  // Only responses have versions and request ids, and this one has changed no product.
  "Compare two versions": "404 NOT_FOUND",
  "Undo a request": "404 NOT_FOUND",
  // Postman names more columns than the sheet has, and sends a workbook as text.
  "Import a sheet": "400 VALIDATION_ERROR wrong_length",
  "Import a workbook": "415 UNSUPPORTED_MEDIA_TYPE",
  // Postman makes XML of the schema, a string, instead of sending the example.
  "Import an ONIX message": "400 INVALID_XML",
};

const USAGE = `deno task clients

Checks the OpenAPI document with three linters, the clients of five generators and Postman. It takes no arguments, and
needs npm packages, which it installs in tests/tools/clients.`;

if (Deno.args.length > 0) {
  console.log(USAGE);
  Deno.exit(Deno.args.includes("--help") ? 0 : 1);
}

await using app = await openDemo();
await using server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  handler: app.handler,
  onListen() {},
});
const env = {
  BASE_URL: `http://127.0.0.1:${server.addr.port}/api`,
  KEY: new Headers(app.callers.key).get("x-api-key")!,
};

/** Runs a package or script of `clients/`, or of `clients/zodios/`, which needs another version of zod. */
async function run(
  folder: "" | "zodios/",
  ...args: string[]
): Promise<string> {
  const { success, output, complaints } = await runTool(args, {
    config: `${FOLDER}${folder}deno.json`,
    cwd: FOLDER,
    env: {
      ...env,
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
    },
  });
  if (!success) throw new Error(`${args.join(" ")}\n${output}${complaints}`);
  return output;
}

await Deno.mkdir(GENERATED, { recursive: true });
const description = await fetch(`${env.BASE_URL}/openapi.json`);
await Deno.writeTextFile(`${GENERATED}/openapi.json`, await description.text());

const linted = await run(
  "",
  "@redocly/cli",
  "lint",
  "--format=json",
  "--extends=recommended",
  DOCUMENT,
);
if (JSON.parse(linted).problems.length > 0) throw new Error(linted);
console.log("redocly lint: no warning");
await run(
  "",
  "@stoplight/spectral-cli/spectral",
  "lint",
  "--fail-severity=hint",
  "--ruleset=spectral.yaml",
  DOCUMENT,
);
console.log("spectral:oas: no warning");
await run("", "swagger_parser.ts", DOCUMENT);
console.log("swagger-parser: valid");

await run(
  "",
  "openapi-typescript",
  DOCUMENT,
  "-o",
  "generated/openapi_types.ts",
);
await run("", "orval", "--config", "orval.config.mjs");
await run("", "@hey-api/openapi-ts", "-i", DOCUMENT, "-o", "generated/hey_api");
// The runtime that it copies beside every client does not compile with exactOptionalPropertyTypes.
for (const runtime of ["client", "core"]) {
  const folder = `${GENERATED}/hey_api/${runtime}`;
  for await (const { name } of Deno.readDir(folder)) {
    const text = await Deno.readTextFile(`${folder}/${name}`);
    await Deno.writeTextFile(`${folder}/${name}`, `// @ts-nocheck\n${text}`);
  }
}
await run(
  "zodios/",
  "openapi-zod-client",
  DOCUMENT,
  "-o",
  "generated/zodios.ts",
);

for (
  const client of [
    "openapi_types",
    "orval_fetch",
    "orval_zod",
    "hey_api/sdk.gen",
  ]
) {
  const file = `generated/${client}.ts`;
  await run("", "--check", "--unstable-sloppy-imports", file);
  console.log(`${client}: compiles`);
}
await run("zodios/", "--check", "generated/zodios.ts");
console.log("zodios: compiles");
await run(
  "",
  "openapi-to-postmanv2/openapi2postmanv2",
  "-s",
  DOCUMENT,
  "-o",
  "generated/postman.json",
  "-O",
  "folderStrategy=Tags,parametersResolution=Example",
);
await run(
  "",
  "newman",
  "run",
  "generated/postman.json",
  `--env-var=baseUrl=${env.BASE_URL}`,
  `--env-var=apiKey=${env.KEY}`,
  "--reporters=json",
  "--reporter-json-export=generated/newman.json",
);
const { run: { executions, failures } } = JSON.parse(
  await Deno.readTextFile(`${GENERATED}/newman.json`),
) as Newman;
const refused = executions.filter((execution) => !isExpected(execution));
for (const { item, response: { code, stream } } of refused) {
  const text = new TextDecoder().decode(Uint8Array.from(stream.data));
  console.error(`${item.name}: ${code} ${text}`);
}
if (failures.length + refused.length > 0) Deno.exit(1);
console.log(`newman: ${executions.length} requests, each as described`);

interface Newman {
  run: { executions: Execution[]; failures: unknown[] };
}

interface Execution {
  item: { name: string };
  request: { method: string; url: { path: string[] } };
  response: { code: number; stream: { data: number[] } };
}

/** Whether the response is a success, or an error that no description could prevent. */
function isExpected(execution: Execution): boolean {
  const { item, request: { method, url }, response: { code } } = execution;
  const path = url.path.join("/").replace(/^api/, "");
  return code >= 200 && code < 300 ||
    // The demo is in use.
    method === "DELETE" && code === 409 ||
    // Postman does not know schemes that apply together: Bearer token and organization.
    path.startsWith("/api-keys") && code === 401 ||
    // The demo has no recipient, whose view the reads can ask for.
    path.startsWith("/recipients/") && (code === 404 || code === 412) ||
    isOfRecipient(execution) ||
    // The demo has no webhook.
    path.startsWith("/webhooks/") && code === 404 ||
    `${code} ${errorIn(execution)}`.startsWith(
      UNPREVENTED[item.name] ?? "none",
    );
}

/** The code of the error, and that of its first detail. */
function errorIn({ response: { stream } }: Execution): string {
  const text = new TextDecoder().decode(Uint8Array.from(stream.data));
  const { error } = JSON.parse(text);
  return [error.code, ...error.details?.slice(0, 1) ?? []]
    .map((one) => one.code ?? one).join(" ");
}

/** Whether the only error is that of the parameter `recipient`. */
function isOfRecipient({ response: { code, stream } }: Execution): boolean {
  if (code !== 400) return false;
  const { error } = JSON.parse(
    new TextDecoder().decode(Uint8Array.from(stream.data)),
  );
  return error.details?.length === 1 &&
    error.details[0].parameter === "recipient";
}
