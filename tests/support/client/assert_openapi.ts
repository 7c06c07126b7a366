import { assert, assertEquals } from "@std/assert";
import { OPERATIONS } from "../../../routes/operations.ts";
import { openapiDocument } from "../../../routes/openapi/document.ts";
import type { Reply } from "./envelope.ts";
import { addFormats, Ajv2020 } from "../app/packages.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** The service's OpenAPI document with closed objects: an undocumented field is an error. */
const DOCUMENT: Json = JSON.parse(
  openapiDocument(OPERATIONS, "/api"),
  (_, value: Json) => value?.properties ? { additionalProperties: false, ...value } : value,
);

// The document is no schema itself. Checking it as one would compile the meta-schema in every test file.
const ajv = new Ajv2020({ strict: false, validateSchema: false });
addFormats.default(ajv);
ajv.addSchema(DOCUMENT, "openapi.json");

/** The paths as regular expressions, under any prefix. Longer paths come first. */
const PATHS = Object.keys(DOCUMENT.paths)
  .sort((one, other) => other.split("/").length - one.split("/").length)
  .map((path) => ({
    path,
    expression: new RegExp(
      `^(?:/[\\w.~-]+)*?${path.replace(/\{\w+\}/g, "[^/]+")}/?$`,
    ),
  }));

/**
 * Validates a response against the OpenAPI document: its status, its headers, and
 * every field and code of its body. A request body that the service accepted must
 * match its schema too.
 */
export function assertOpenApi(
  { method, url }: Request,
  sent: unknown,
  reply: Reply,
): void {
  const { pathname } = new URL(url);
  const found = PATHS.find(({ expression }) => expression.test(pathname));
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  const operation = found && DOCUMENT.paths[found.path][verb];
  if (!operation || isUnknownPath(reply)) return assertNoOperation(reply);

  const at = ["paths", found.path, verb];
  const [response, place] = resolved(
    operation.responses[reply.status],
    [...at, "responses", String(reply.status)],
  );
  assert(
    response,
    `${method} ${pathname} has no response ${reply.status} in OpenAPI`,
  );
  assertHeaders(response.headers, reply.headers);
  const type = TEXT_TYPES.find((type) => isOf(type, reply));
  if (type) {
    assert(response.content[type], `${pathname} has no ${type} in OpenAPI`);
  }
  if (reply.body !== undefined) {
    assertValid([...place, "content", JSON_TYPE, "schema"], reply.body);
  }
  const isJson = operation.requestBody?.content?.[JSON_TYPE];
  if (typeof sent === "string" && isJson && isTaken(reply)) {
    assertValid(
      [...at, "requestBody", "content", JSON_TYPE, "schema"],
      JSON.parse(sent.replace(/^\ufeff/, "")),
    );
  }
}

const JSON_TYPE = "application/json";

const TEXT_TYPES = [
  "application/xml",
  "text/csv",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
];

function isOf(type: string, { headers }: Reply): boolean {
  return headers.get("content-type")?.startsWith(type) ?? false;
}

/** Validates a response to a request that matches no operation. */
function assertNoOperation({ status }: Reply): void {
  assert(
    [204, 400, 404, 405].includes(status),
    `An undocumented operation returned ${status}`,
  );
}

function isUnknownPath({ body }: Reply): boolean {
  return body?.error?.message.startsWith("Unknown path");
}

/** Whether the service accepted the whole body. A batch gets 200 even if its operations fail. */
function isTaken({ status, body }: Reply): boolean {
  return status < 400 &&
    !(Array.isArray(body?.data) &&
      body.data.some((item: Json) => item.status >= 400));
}

function resolved(
  value: Json,
  place: string[],
): [Json, string[]] {
  if (!value?.$ref) return [value, place];
  const steps = value.$ref.slice("#/".length).split("/");
  return [
    steps.reduce((at: Json, step: string) => at[step], DOCUMENT),
    steps,
  ];
}

function assertHeaders(described: Json, headers: Headers): void {
  const names = new Map(
    Object.keys(described).map((name) => [name.toLowerCase(), name]),
  );
  for (const [name, value] of headers) {
    if (name === "content-type" || name === "content-length") continue;
    const known = names.get(name);
    assert(known, `The header ${name} is not in the OpenAPI document`);
    const { type } = DOCUMENT.components.headers[known].schema;
    assertValid(
      ["components", "headers", known, "schema"],
      type === "integer" ? Number(value) : value,
    );
  }
  const missing = [...names].filter(([name, known]) =>
    DOCUMENT.components.headers[known].required && !headers.has(name)
  );
  assertEquals(missing, []);
}

function assertValid(place: string[], value: unknown): void {
  const pointer = place.map((step) =>
    encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))
  );
  const validate = ajv.getSchema(`openapi.json#/${pointer.join("/")}`)!;
  assert(
    validate(value),
    `${JSON.stringify(validate.errors)} in ${JSON.stringify(value)}`,
  );
}
