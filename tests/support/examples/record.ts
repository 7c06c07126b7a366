import { createHash } from "node:crypto";
import { installDemo, issueDemoKey } from "../../../db/demo.ts";
import { DEMO } from "../../../db/sql_files.ts";
import { createTokenVerifier } from "../../../middleware/jwt.ts";
import type { Exchange } from "../../../routes/openapi/examples.ts";
import type { ExampleRequest, Responses } from "./request.ts";
import { REQUESTS } from "./requests.ts";
import { openExampleReceiver, webhookRequests, withFixedTimes } from "./webhooks.ts";
import { pause } from "../../../db/connections/deadline.ts";
import { eventually } from "../app/eventually.ts";
import { type App, openApp, send, SETTINGS } from "../app/harness.ts";
import { claims, hmacToken } from "../app/jwt.ts";

/*
 * Records the examples of the OpenAPI document from the service's responses. As a
 * program, this file writes them: `deno task examples`.
 */

/** The file of the examples. */
export const EXAMPLES = new URL(
  "../../../routes/openapi/examples.json",
  import.meta.url,
);

const SECRET = "a secret that has thirty-two bytes or more";

/** The service with the demo organization in a new embedded database, and the headers of its callers. */
export interface Demo extends App {
  callers: Record<NonNullable<ExampleRequest["caller"]> | "key", HeadersInit>;
}

/** Opens the service with the demo organization. */
export async function openDemo(): Promise<Demo> {
  const app = await openApp(
    { verifyToken: createTokenVerifier({ secret: SECRET }) },
    { ...SETTINGS, url: undefined },
  );
  const database = app.database.for({ deadline: performance.now() + 60_000 });
  await installDemo(database);
  let key = "";
  await issueDemoKey(database, (shown) => Promise.resolve(Boolean(key = shown)));
  const [member] = await app.sql`
    insert into organization_members (organization_id, user_id, role)
    select id, 'owner', 'owner' from organizations
    returning organization_id
  `;
  const token = hmacToken(SECRET, claims({ sub: "owner" }));
  return {
    ...app,
    callers: {
      nobody: {},
      key: { "x-api-key": key },
      owner: {
        authorization: `Bearer ${token}`,
        "x-organization-id": member!.organization_id,
      },
    },
  };
}

/** Sends the requests, and returns the content of the examples file, an exchange a line. It is reproducible. */
export async function makeExamples(app: Demo): Promise<string> {
  const responses: Responses = {};
  const exchanges: Record<string, Exchange> = {};
  await using receiver = openExampleReceiver();
  const sender = app.sender({
    WEBHOOK_ALLOWED_TARGETS: "127.0.0.1",
    WEBHOOK_RETRY_SECONDS: "3600",
  });
  const handler = app.variant({
    sender,
    verifyToken: createTokenVerifier({ secret: SECRET }),
  });
  sender.start();
  const requests = { ...REQUESTS, ...webhookRequests(receiver.url) };
  for (const [name, request] of Object.entries(requests)) {
    const { summary, operation, caller = "key", isHidden } = request;
    const path = valueOf(request.path, responses);
    const body = valueOf(request.body, responses);
    const isXml = typeof body === "string";
    const isBinary = body instanceof Uint8Array;
    const ask = () =>
      send(handler, `/api${path}`, {
        method: operation.split(" ")[0]!,
        headers: {
          ...app.callers[caller],
          "content-type": isXml ? "application/xml" : "application/json",
          "x-request-id": name,
          ...request.headers,
        },
        ...body !== undefined && {
          body: isXml || isBinary ? body as BodyInit : JSON.stringify(body),
        },
      });
    let reply = await ask();
    if (request.until) {
      const { until } = request;
      await eventually(true, async () => {
        reply = await ask();
        return until(reply.body);
      });
    }
    const { status, body: response = reply.text } = reply;
    if (status >= 500) throw new Error(`${name}: ${JSON.stringify(response)}`);
    responses[name] = response;
    if (!isHidden) {
      exchanges[name] = {
        summary,
        operation,
        request: { path, body: isBinary ? undefined : body },
        status,
        response: operation.includes(" /webhooks") ? withFixedTimes(response) : response,
      };
    }
    // Gives the next request a later time.
    await pause(2);
  }
  await sender.stop(performance.now() + 5_000);
  const fix = await openFixer();
  const lines = Object.entries(exchanges).map(([name, exchange]) =>
    `${JSON.stringify(name)}:${fix(resourceOf(exchange), exchange)}`
  );
  return `{\n${lines.join(",\n")}\n}\n`;
}

/** The first part of the path. */
function resourceOf({ operation }: Exchange): string {
  return operation.split("/")[1]!;
}

/** Resolves a value that may depend on earlier responses. */
function valueOf<T>(
  value: T | ((responses: Responses) => T),
  responses: Responses,
): T {
  return typeof value === "function" ? (value as (responses: Responses) => T)(responses) : value;
}

const START = Date.parse("2026-01-01T09:00:00Z");

/**
 * The generated values, with the fixed values that replace them. They follow from a code
 * of four digits for the resource, and a number.
 */
const GENERATED: [RegExp, (resource: string, number: string) => string][] = [
  [
    /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g,
    (resource, number) => `01980000-0000-7000-8000-${resource}${number.padStart(8, "0")}`,
  ],
  [/\bcat_\w{12}_[\w-]{43}/g, () => "cat_3x4mp1e00001_EXAMPLE"],
  [/\bwhsec_[\w+/=]{44}/g, () => "whsec_EXAMPLE"],
  [
    /\bmsg_[\da-f]{32}/g,
    (_, number) => `msg_0e5a3b1c7d9f4e2a8c6b0d1f2e3a4${number.padStart(3, "0")}`,
  ],
  [
    /(?<="id":"|api-keys\/)[0-9a-z]{12}(?=")/g,
    (_, number) => `3x4mp1e${number.padStart(5, "0")}`,
  ],
  // The parts of a cursor, in base64.
  [
    /[\w-]{120,}/g,
    (resource, number) => btoa(`Opaque: cursor ${resource}${number}`),
  ],
  [
    /\bP-\w{8}\b/g,
    (resource, number) => `P-${resource.toUpperCase()}${number.padStart(4, "0")}`,
  ],
  [
    /\d{4}-\d\d-\d\dT[\d:.]+Z/g,
    (_, number) => new Date(START + Number(number) * 1_000).toISOString(),
  ],
  [/\b\d{8}T\d{6}Z/g, () => "20260101T090000Z"],
  // Versions of products, also those that are compared, and cursors of histories.
  [
    /(?<="(?:version|restored_from|cursor)":"|\/compare\?from=|"data":\{"from":"|"data":\{"from":"\d+","to":")\d+(?=")/g,
    (_, number) => `${1_000 + Number(number)}`,
  ],
  [
    /(?<="cursor":")[\w-]{70,119}(?=")/g,
    (_, number) => btoa(`Opaque: cursor of a history ${number}`),
  ],
];

/**
 * Returns the function that replaces the generated values of an exchange. It numbers those
 * of a resource in the order of the exchanges, so that a new resource changes no other's
 * examples. Values of the demo are kept.
 */
async function openFixer(): Promise<
  (resource: string, exchange: Exchange) => string
> {
  const demo = await Deno.readTextFile(DEMO);
  const known = GENERATED.map(() => new Map<string, string>());
  const counts = new Map<string, number>();
  return (resource, exchange) => {
    const code = createHash("sha256").update(resource).digest("hex").slice(
      0,
      4,
    );
    return GENERATED.reduce(
      (text, [pattern, fixedValue], i) =>
        text.replace(pattern, (value) => {
          // The digits of a version may stand in the demo by chance.
          if (/\D/.test(value) && demo.includes(value)) return value;
          const values = known[i]!;
          if (!values.has(value)) {
            const counted = `${resource} ${i}`;
            const number = (counts.get(counted) ?? 0) + 1;
            counts.set(counted, number);
            values.set(value, fixedValue(code, `${number}`));
          }
          return values.get(value)!;
        }),
      JSON.stringify(exchange),
    );
  };
}

const USAGE = `deno task examples

Writes routes/openapi/examples.json from the responses of the service. It takes no arguments.`;

if (import.meta.main) {
  if (Deno.args.length > 0) {
    console.log(USAGE);
    Deno.exit(Deno.args.includes("--help") ? 0 : 1);
  }
  await using app = await openDemo();
  await Deno.writeTextFile(EXAMPLES, await makeExamples(app));
}
