import { assertEquals } from "@std/assert";
import { type Database, type DatabaseSettings, openDatabase } from "../../../db/database.ts";
import { install } from "../../../db/migrate.ts";
import type { Services } from "../../../middleware/context.ts";
import { SILENT } from "../../../middleware/telemetry.ts";
import type { NameResolver } from "../../../features/webhooks/sender/name_resolver.ts";
import { openSender, type Sender } from "../../../features/webhooks/sender/sender.ts";
import { createHandler } from "../../../routes/handler.ts";
import { readConfig } from "../../../schema/config.ts";
import { assertOpenApi } from "../client/assert_openapi.ts";
import { assertEnvelope, type Reply } from "../client/envelope.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { preparedFolder } from "./prepared_folder.ts";
import { type Session, sessionOf } from "../sql/script.ts";
import { TIMED } from "./deadline.ts";
import { SECRETS } from "./secrets.ts";

/** The service with an embedded database, or that of `TEST_DATABASE_URL`. */
export interface App extends AsyncDisposable {
  database: Database;
  /** Whether Citus distributes the database. It then has no triggers for SQL. */
  isDistributed: boolean;
  handler: (request: Request) => Promise<Response>;
  /** The same service and database, with parts of the service replaced. */
  variant(services: Partial<Services>): App["handler"];
  /** A sender of webhooks with these variables, which has not started, on this database or another. */
  sender(
    variables: Record<string, string>,
    other?: Database,
    names?: NameResolver,
  ): Sender;
  /** Every line that the service logged at the default level. */
  logged: Record<string, unknown>[];
  /** SQL without the service, to prepare or inspect data. */
  sql: Session;
  /** Sends a request to a path such as `/api/products`. */
  send(path: string, init?: RequestInit): Promise<Reply>;
  /** A new organization, with a record of every kind that products refer to. */
  organization(): Promise<Organization>;
}

const URL_OF_TEST_DATABASE = Deno.env.get("TEST_DATABASE_URL");

/** The time limits of the service under test are generous, so that a busy machine fails no test. */
const LIMIT_MS = 300_000;

export const SETTINGS: DatabaseSettings = {
  url: URL_OF_TEST_DATABASE,
  poolSize: 12,
  statementTimeoutMs: LIMIT_MS,
  prepare: Deno.env.get("DATABASE_PREPARE") !== "false",
};

/**
 * Opens the service, and expects no secrets in its log. `services` replaces parts
 * of it. `settings` replaces database settings, and opens a database of its own.
 */
export async function openApp(
  services: Partial<Services> = {},
  settings?: Partial<DatabaseSettings>,
): Promise<App> {
  const opened = settings ? await openInstalled({ ...SETTINGS, ...settings }) : await openShared();
  const { database } = opened;
  const operations = () => database.for({ deadline: performance.now() + LIMIT_MS });
  const isDistributed = await operations().transaction(async (tx) => {
    await tx.commit();
    return tx.isDistributed;
  });
  const logged: Record<string, unknown>[] = [];
  const leaked: string[] = [];
  const log: Services["log"] = (level, fields) => {
    if (level !== "debug") logged.push({ level, ...fields });
    // No input is answered 500. If a test fails for it, this line says where the service failed.
    if (fields.status === 500) console.error("A request ended with 500:", fields);
    const secret = SECRETS.foundIn(fields);
    if (secret) leaked.push(`${secret}… in ${JSON.stringify(fields)}`);
  };
  const sender: App["sender"] = (variables, other = database, names) =>
    openSender(
      other,
      readConfig((name) => variables[name]).webhooks,
      { log, requests: () => 0, names },
    );
  const variant = (other: Partial<Services>) =>
    createHandler({
      database,
      log,
      telemetry: SILENT,
      sender: sender({}),
      apiPrefix: "/api",
      corsOrigins: [],
      docs: true,
      maxBodyBytes: 1_048_576,
      maxOnixBytes: 67_108_864,
      bodyTimeoutMs: LIMIT_MS,
      sendTimeoutMs: LIMIT_MS,
      deadlineMs: LIMIT_MS,
      isReady: () => true,
      ...services,
      ...other,
    });
  const handler = variant({});

  const app: App = {
    database,
    isDistributed,
    handler,
    variant,
    sender,
    logged,
    sql: sessionOf({
      transaction: (work, ...opening) => operations().transaction(work, ...opening),
    }),
    send: (path, init) => send(handler, path, init),
    organization: () => createOrganization(app),
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      assertEquals(leaked, [], "The log contains secrets");
    },
  };
  return app;
}

/** What a test begins with: an organization of its own, the service, and its SQL. */
export interface Scene {
  org: Organization;
  app: App;
  sql: Session;
}

/**
 * Returns a function that adds tests, whose names begin with the subject. `services`
 * replaces parts of the service.
 */
export function testsOf(subject: string, services: Partial<Services> = {}) {
  return (
    behaviour: string,
    test: (scene: Scene) => Promise<void>,
    options = {},
  ): void =>
    Deno.test(`${subject} ${behaviour}`, { ...TIMED, ...options }, async () => {
      await using app = await openApp(services);
      await test({ org: await app.organization(), app, sql: app.sql });
    });
}

/** A database with schema and code lists. */
interface Installed extends AsyncDisposable {
  database: Database;
}

/** Opens the database at `url`, or a new embedded one. */
async function openInstalled(settings: DatabaseSettings): Promise<Installed> {
  const { url } = settings;
  if (url) SECRETS.addCredential(new URL(url).password);
  const dataDir = url ? undefined : await preparedFolder();
  const database = await openDatabase({ ...settings, dataDir });
  await install(database.for({ deadline: performance.now() + LIMIT_MS }));
  return {
    database,
    async [Symbol.asyncDispose]() {
      await database.close();
      if (dataDir) await Deno.remove(dataDir, { recursive: true });
    },
  };
}

let shared: Promise<Installed> | undefined;

/** Opens the database that the tests of this process share. It stays open until their end. */
async function openShared(): Promise<Installed> {
  shared ??= openInstalled(SETTINGS);
  const { database } = await shared;
  return { database, async [Symbol.asyncDispose]() {} };
}

Deno.test.afterAll(async () => {
  await (await shared)?.[Symbol.asyncDispose]();
});

/** Sends one request, and checks what holds for every response. */
export async function send(
  handler: App["handler"],
  path: string,
  init?: RequestInit,
): Promise<Reply> {
  const request = new Request(`http://catalogue.test${path}`, init);
  SECRETS.addRequest(request, init?.body);
  const response = await handler(request);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  const reply = {
    status: response.status,
    headers: response.headers,
    text,
    bytes,
    body: text && isJson(response) ? JSON.parse(text) : undefined,
  };
  assertEnvelope(reply, request.method);
  assertOpenApi(request, init?.body, reply);
  return reply;
}

function isJson({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("application/json") ?? false;
}
