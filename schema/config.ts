import * as v from "valibot";
import { didYouMean, slipsBetween } from "./spelling.ts";
import { parseAllowedTargets } from "./targets.ts";

/* Reads and validates the configuration from environment variables. */

/** Log levels, from the most to the least verbose. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/**
 * The default number of database connections. A third is reserved for look-ups.
 * Fewer leave the disks idle, more overload the database's CPUs.
 */
export const POOL_SIZE = 16;

/** The values of `sslmode` (PostgreSQL, libpq). */
const TLS_MODES = [
  "disable",
  "allow",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
];

const PostgresUrl = v.pipe(
  v.string(),
  v.check(
    (url) => /^postgres(?:ql)?:\/\/./.test(url) && URL.canParse(url),
    "must be a PostgreSQL URL: postgres://user:password@host:5432/database",
  ),
  v.check(
    hasOneTcpHost,
    "must name one host: several hosts and Unix sockets are not supported, use 127.0.0.1 for PostgreSQL on this machine",
  ),
  v.check(
    (url) => !URL.parse(url)?.searchParams.has("target_session_attrs"),
    "must not have target_session_attrs: it chooses one of several hosts",
  ),
  v.check(isDecodable, "must encode a % in the user or the password as %25"),
  v.check(
    hasTlsMode,
    `must have one of these values of sslmode, or none: ${TLS_MODES.join(", ")}`,
  ),
);

const Bool = v.pipe(
  v.picklist(["true", "false"], "must be true or false"),
  v.transform((text) => text === "true"),
);

/** Every variable that the service reads. */
const VARIABLES = v.object({
  API_PREFIX: v.optional(
    matching(
      /^(?:\/(?!\.\.?(?:\/|$))[\w.~-]+)+$/,
      "must be a path such as /api, without a trailing slash",
    ),
    "/api",
  ),
  CORS_ORIGINS: v.optional(
    v.pipe(
      v.string(),
      v.transform((list) => list.split(",").map((origin) => origin.trim())),
      v.check(
        (origins) => origins.every(isOriginUrl),
        "must be comma-separated origins such as https://app.example, without a trailing slash",
      ),
    ),
  ),
  DATABASE_URL: v.optional(PostgresUrl),
  DATABASE_POOL_SIZE: number(String(POOL_SIZE), 1, 100),
  DATABASE_PREPARE: v.optional(Bool, "true"),
  DATABASE_REPLICA_URL: v.optional(PostgresUrl),
  DATABASE_STATEMENT_TIMEOUT_MS: number("10000", 100, 600_000),
  DATA_DIR: v.optional(
    matching(
      /^[^,]+$/,
      "must not contain a comma, which separates paths in Deno's permissions",
    ),
    ".data",
  ),
  DENO_DEPLOYMENT_ID: v.optional(v.string()),
  DOCS: v.optional(Bool, "true"),
  HISTORY_DAYS: number("90", 0, 36_500),
  HOST: v.optional(
    matching(/^[\w.:-]+$/, "must be a host name or an IP address"),
  ),
  JWT_AUDIENCE: v.optional(v.string()),
  JWT_ISSUER: v.optional(v.string()),
  JWT_JWKS_URL: v.optional(v.pipe(
    v.string(),
    v.check(
      isTrustworthy,
      "must be an https URL, or an http URL of this machine (127.0.0.1, localhost, [::1])",
    ),
    v.transform((url) => new URL(url)),
  )),
  JWT_SECRET: v.optional(
    v.pipe(v.string(), v.minBytes(32, "must have at least 32 bytes")),
  ),
  LOG_LEVEL: v.optional(
    v.picklist(LOG_LEVELS, "must be debug, info, warn or error"),
    "info",
  ),
  MAX_BODY_BYTES: number("1048576", 1, 1_073_741_824),
  MAX_ONIX_BYTES: number("67108864", 1, 1_073_741_824),
  MIGRATE_ON_START: v.optional(Bool, "true"),
  PORT: number("8000", 1, 65_535),
  WEBHOOKS: v.optional(Bool, "true"),
  WEBHOOK_ALLOWED_TARGETS: v.optional(v.pipe(
    v.string(),
    v.transform(parseAllowedTargets),
    v.check(
      (targets) => targets !== undefined,
      "must be comma-separated host names, addresses and CIDR ranges, with a port or without, such as receiver.internal:8080,10.1.0.0/16",
    ),
  )),
  WEBHOOK_DISABLE_SECONDS: number("432000", 1, 2_592_000),
  WEBHOOK_RETRY_SECONDS: v.optional(
    v.pipe(
      matching(
        /^[1-9]\d{0,6}(?: *, *[1-9]\d{0,6}){0,19}$/,
        "must be 1 to 20 comma-separated numbers of seconds, each from 1 to 9999999",
      ),
      v.transform((list) => list.split(",").map(Number)),
    ),
    // The schedule that Standard Webhooks 1.0.0 recommends.
    "5,300,1800,7200,18000,36000,50400,72000,86400",
  ),
  WEBHOOK_TIMEOUT_MS: number("15000", 100, 30_000),
  WEBHOOK_WAITING_MAX: number("1000", 1, 10_000),
});

/** The names of the variables. */
export const VARIABLE_NAMES = Object.keys(VARIABLES.entries)
  .filter((name) => name !== "DENO_DEPLOYMENT_ID");

type Variable = keyof typeof VARIABLES.entries;
type Variables = v.InferOutput<typeof VARIABLES>;

/** A rule on several variables, and its message. */
const RULES: [Variable[], (env: Partial<Variables>) => boolean, message: string][] = [
  [
    ["DENO_DEPLOYMENT_ID", "DATABASE_URL"],
    (env) => !env.DENO_DEPLOYMENT_ID || !!env.DATABASE_URL,
    "DATABASE_URL must be set on Deno Deploy: its disk is not persistent",
  ],
  [
    ["DATABASE_REPLICA_URL", "DATABASE_URL"],
    (env) => !env.DATABASE_REPLICA_URL || !!env.DATABASE_URL,
    "DATABASE_URL must be set with DATABASE_REPLICA_URL: it names the replica's primary",
  ],
  [
    ["JWT_JWKS_URL", "JWT_SECRET"],
    (env) => !env.JWT_JWKS_URL || !env.JWT_SECRET,
    "JWT_SECRET must not be set together with JWT_JWKS_URL",
  ],
  [
    ["JWT_JWKS_URL", "JWT_ISSUER"],
    (env) => !env.JWT_JWKS_URL || !!env.JWT_ISSUER,
    "JWT_ISSUER must be set with JWT_JWKS_URL",
  ],
  [
    ["JWT_JWKS_URL", "JWT_AUDIENCE"],
    (env) => !env.JWT_JWKS_URL || !!env.JWT_AUDIENCE,
    "JWT_AUDIENCE must be set with JWT_JWKS_URL",
  ],
  [
    ["JWT_JWKS_URL", "JWT_SECRET", "JWT_ISSUER", "JWT_AUDIENCE"],
    (env) =>
      !!env.JWT_JWKS_URL || !!env.JWT_SECRET ||
      !env.JWT_ISSUER && !env.JWT_AUDIENCE,
    "JWT_SECRET or JWT_JWKS_URL must be set with JWT_ISSUER and JWT_AUDIENCE",
  ],
];

/** The verification of Bearer tokens: by a shared secret, or by the JWK Set at a URL (RFC 7517). */
export type TokenConfig =
  & ({ secret: string } | { jwksUrl: URL })
  & { issuer?: string; audience?: string };

export type Config = ReturnType<typeof readConfig>;

/** How this process sends the messages of webhooks. */
export type WebhookConfig = Config["webhooks"];

/** The value of a variable by its name. */
export type Environment = (name: string) => string | undefined;

/**
 * Reads the configuration from the environment. An empty variable counts as unset.
 * Throws an error with a line for each invalid variable: its name, never its value.
 * `names` are those of the variables that are set: misspelled ones are named beside invalid ones.
 */
export function readConfig(environment: Environment, names: readonly string[] = []) {
  const given = Object.entries(VARIABLES.entries).map(([name, schema]) =>
    [name, v.safeParse(schema, environment(name) || undefined)] as const
  );
  const env = Object.fromEntries(given.map(([name, { output }]) => [name, output])) as Variables;
  const invalid = given.filter(([, { success }]) => !success);
  const invalidNames = invalid.map(([name]) => name);
  const problems = [
    ...invalid.map(([name, { issues }]) => `${name} ${issues![0].message}`),
    ...RULES.filter(([names, holds]) =>
      !names.some((name) => invalidNames.includes(name)) && !holds(env)
    ).map(([, , message]) => message),
  ];
  if (problems.length > 0) {
    throw new Error([...problems, ...findUnknownVariables(names)].join("\n"));
  }
  const database = {
    url: env.DATABASE_URL,
    dataDir: env.DATA_DIR,
    poolSize: env.DATABASE_POOL_SIZE,
    prepare: env.DATABASE_PREPARE,
    statementTimeoutMs: env.DATABASE_STATEMENT_TIMEOUT_MS,
  };
  return {
    apiPrefix: env.API_PREFIX,
    corsOrigins: env.CORS_ORIGINS ?? [],
    database,
    docs: env.DOCS,
    historyDays: env.HISTORY_DAYS,
    host: env.HOST ?? (env.DATABASE_URL ? "0.0.0.0" : "127.0.0.1"),
    logLevel: env.LOG_LEVEL,
    maxBodyBytes: env.MAX_BODY_BYTES,
    maxOnixBytes: env.MAX_ONIX_BYTES,
    migrateOnStart: env.MIGRATE_ON_START,
    port: env.PORT,
    replica: env.DATABASE_REPLICA_URL ? { ...database, url: env.DATABASE_REPLICA_URL } : undefined,
    token: tokenConfig(env),
    webhooks: {
      enabled: env.WEBHOOKS,
      allowedTargets: env.WEBHOOK_ALLOWED_TARGETS ?? [],
      retrySeconds: env.WEBHOOK_RETRY_SECONDS,
      timeoutMs: env.WEBHOOK_TIMEOUT_MS,
      waitingMax: env.WEBHOOK_WAITING_MAX,
      disableSeconds: env.WEBHOOK_DISABLE_SECONDS,
    },
  };
}

function tokenConfig(
  env: Variables,
): TokenConfig | undefined {
  const { JWT_JWKS_URL: jwksUrl, JWT_SECRET: secret } = env;
  const claims = { issuer: env.JWT_ISSUER, audience: env.JWT_AUDIENCE };
  if (jwksUrl) return { jwksUrl, ...claims };
  if (secret) return { secret, ...claims };
}

/** Variables that Deno reads for its telemetry. */
const OTEL = [
  "OTEL_DENO",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_RESOURCE_ATTRIBUTES",
  "OTEL_SERVICE_NAME",
];

/**
 * Returns a warning for each variable that looks like a misspelled known one. The
 * known one would silently keep its default.
 */
export function findUnknownVariables(names: readonly string[]): string[] {
  const known = [...Object.keys(VARIABLES.entries), ...OTEL];
  return names.filter((name) => !known.includes(name)).flatMap((name) => {
    const meant = known.find((known) => isMisspelling(name, known));
    return meant ? [`The variable ${name} is unknown${didYouMean(meant)}`] : [];
  });
}

/**
 * Whether the name looks like a misspelling of the known one: at most two edits in names from 12
 * characters, and one from 8. Shorter names resemble too many words: in these, only doubled letters
 * count.
 */
function isMisspelling(name: string, known: string): boolean {
  const max = known.length < 8 ? 0 : known.length < 12 ? 1 : 2;
  const given = name.toUpperCase();
  return slipsBetween(given, known, max) <= max ||
    given.replace(/(.)\1/g, "$1") === known;
}

function matching(form: RegExp, message: string) {
  return v.pipe(v.string(), v.regex(form, message));
}

function number(fallback: string, min: number, max: number) {
  const expected = `must be a whole number from ${min} to ${max}`;
  return v.optional(
    v.pipe(
      matching(/^\d{1,10}$/, expected),
      v.transform(Number),
      v.minValue(min, expected),
      v.maxValue(max, expected),
    ),
    fallback,
  );
}

function isTrustworthy(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" ||
    protocol === "http:" &&
      /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Origins are compared as text, so only the form that browsers send is valid. */
function isOriginUrl(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) &&
    new URL(text).origin === text;
}

/**
 * libpq takes a missing host, an encoded path and the parameter `host` as a Unix
 * socket, and a comma as a list of hosts.
 */
function hasOneTcpHost(address: string): boolean {
  const url = URL.parse(address);
  return /^[^%/,]+$/.test(url?.hostname ?? "") &&
    !url?.searchParams.has("host");
}

function isDecodable(address: string): boolean {
  try {
    decodeURIComponent(address);
    return true;
  } catch {
    return false;
  }
}

function hasTlsMode(address: string): boolean {
  const mode = URL.parse(address)?.searchParams.get("sslmode");
  return !mode || TLS_MODES.includes(mode);
}
