import { assert, assertEquals } from "@std/assert";
import { openapiDocument } from "../../schema/openapi/document.ts";
import type { Reply } from "./envelope.ts";
import { addFormats, Ajv2020 } from "./packages.ts";

// deno-lint-ignore no-explicit-any
type Described = any;

/** The description that the service serves, but closed: a field that it does not name must not be there. */
const DOCUMENT: Described = JSON.parse(
  openapiDocument("/api"),
  (_, value: Described) =>
    value?.properties ? { additionalProperties: false, ...value } : value,
);

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(DOCUMENT, "openapi.json");

/** Paths as expressions, under whatever prefix. */
const PATHS = Object.keys(DOCUMENT.paths).map((path) => ({
  path,
  expression: new RegExp(
    `^(?:/[\\w.~-]+)*?${path.replace("{id}", "[^/]+")}/?$`,
  ),
}));

/**
 * Holds an answer against the description: its status, its headers, and every
 * field and code of its body. A body that the service took must be one that it
 * describes, too.
 */
export function assertDescribed(
  { method, url }: Request,
  sent: unknown,
  reply: Reply,
): void {
  const { pathname } = new URL(url);
  const found = PATHS.find(({ expression }) => expression.test(pathname));
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  const operation = found && DOCUMENT.paths[found.path][verb];
  if (!operation || isNowhere(reply)) return assertUndescribed(reply);

  const at = ["paths", found.path, verb];
  const [response, place] = resolved(
    operation.responses[reply.status],
    [...at, "responses", String(reply.status)],
  );
  assert(response, `${method} ${pathname} describes no ${reply.status}`);
  assertHeaders(response.headers, reply.headers);
  if (reply.body !== undefined) {
    assertValid([...place, "content", JSON_TYPE, "schema"], reply.body);
  }
  if (typeof sent === "string" && operation.requestBody && isTaken(reply)) {
    assertValid(
      [...at, "requestBody", "content", JSON_TYPE, "schema"],
      JSON.parse(sent),
    );
  }
}

const JSON_TYPE = "application/json";

/** What is answered before there is an operation, or where there is none. */
function assertUndescribed({ status }: Reply): void {
  assert(
    [204, 400, 404, 405].includes(status),
    `What is not described answers ${status}`,
  );
}

function isNowhere({ body }: Reply): boolean {
  return body?.error?.message.startsWith("Nothing is served at this path");
}

/** Whether the whole body was taken: a batch is answered 200 whatever became of its operations. */
function isTaken({ status, body }: Reply): boolean {
  return status < 400 &&
    !(Array.isArray(body?.data) &&
      body.data.some((item: Described) => item.status >= 400));
}

function resolved(
  value: Described,
  place: string[],
): [Described, string[]] {
  if (!value?.$ref) return [value, place];
  const steps = value.$ref.slice("#/".length).split("/");
  return [
    steps.reduce((at: Described, step: string) => at[step], DOCUMENT),
    steps,
  ];
}

function assertHeaders(described: Described, headers: Headers): void {
  const names = new Map(
    Object.keys(described).map((name) => [name.toLowerCase(), name]),
  );
  for (const [name, value] of headers) {
    if (name === "content-type" || name === "content-length") continue;
    const known = names.get(name);
    assert(known, `The header ${name} is not described`);
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
