import * as v from "valibot";

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
    isForAnyServer,
    "must not have target_session_attrs: it chooses one of several hosts",
  ),
  v.check(isDecodable, "must encode a % in the user or the password as %25"),
  v.check(
    hasTlsMode,
    `must have one of these values of sslmode, or none: ${
      TLS_MODES.join(", ")
    }`,
  ),
);

const Bool = v.pipe(
  v.picklist(["true", "false"], "must be true or false"),
  v.transform((text) => text === "true"),
);

/** Log levels, from the most to the least verbose. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/**
 * The default number of database connections. A third is reserved for look-ups.
 * Fewer leave the disks idle, more overload the database's CPUs.
 */
export const POOL_SIZE = 16;

/** Every variable that the service reads. */
export const VARIABLES = v.object({
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
        (origins) => origins.every(isOrigin),
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
  MIGRATE_ON_START: v.optional(Bool, "true"),
  PORT: number("8000", 1, 65_535),
});

/** `VARIABLES` with the rules on combinations of variables. */
export const Environment = v.pipe(
  VARIABLES,
  v.check(
    (env) => !env.DENO_DEPLOYMENT_ID || !!env.DATABASE_URL,
    "DATABASE_URL must be set on Deno Deploy: its disk is not persistent",
  ),
  v.check(
    (env) => !env.DATABASE_REPLICA_URL || !!env.DATABASE_URL,
    "DATABASE_URL must be set with DATABASE_REPLICA_URL: it names the replica's primary",
  ),
  v.check(
    (env) => !env.JWT_JWKS_URL || !env.JWT_SECRET,
    "JWT_SECRET must not be set together with JWT_JWKS_URL",
  ),
  v.check(
    (env) => !env.JWT_JWKS_URL || !!env.JWT_ISSUER,
    "JWT_ISSUER must be set with JWT_JWKS_URL",
  ),
  v.check(
    (env) => !env.JWT_JWKS_URL || !!env.JWT_AUDIENCE,
    "JWT_AUDIENCE must be set with JWT_JWKS_URL",
  ),
  v.check(
    (env) =>
      !!env.JWT_JWKS_URL || !!env.JWT_SECRET ||
      !env.JWT_ISSUER && !env.JWT_AUDIENCE,
    "JWT_SECRET or JWT_JWKS_URL must be set with JWT_ISSUER and JWT_AUDIENCE",
  ),
);

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
function isOrigin(text: string): boolean {
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

function isForAnyServer(address: string): boolean {
  return !URL.parse(address)?.searchParams.has("target_session_attrs");
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
