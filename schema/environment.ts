import * as v from "valibot";

const PostgresUrl = v.pipe(
  v.string(),
  v.check(
    (url) => /^postgres(?:ql)?:\/\/./.test(url) && URL.canParse(url),
    "must be a PostgreSQL URL: postgres://user:password@host:5432/database",
  ),
  v.check(
    hasTcpHost,
    "must name a host: Unix sockets are not supported, use 127.0.0.1 where PostgreSQL runs on this machine",
  ),
);

const Truth = v.pipe(
  v.picklist(["true", "false"], "must be true or false"),
  v.transform((is) => is === "true"),
);

/**
 * Connections to the database. A third serve look-ups, the rest lists and writes.
 * With fewer the disks idle, with more the processors of the database are
 * overloaded.
 */
export const POOL_SIZE = 9;

/** Every variable that the service reads. */
export const Environment = v.object({
  API_PREFIX: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^(?:\/(?!\.\.?(?:\/|$))[\w.~-]+)+$/,
        "must be a path such as /api, without a slash at its end",
      ),
    ),
    "/api",
  ),
  CORS_ORIGINS: v.optional(
    v.pipe(
      v.string(),
      v.transform((list) => list.split(",").map((origin) => origin.trim())),
      v.check(
        (origins) => origins.every(isOrigin),
        "must be a comma list of origins such as https://app.example, without a slash at the end",
      ),
    ),
  ),
  DATABASE_URL: v.optional(PostgresUrl),
  DATABASE_POOL_SIZE: number(String(POOL_SIZE), 1, 100),
  DATABASE_PREPARE: v.optional(Truth, "true"),
  DATABASE_REPLICA_URL: v.optional(PostgresUrl),
  DATABASE_STATEMENT_TIMEOUT_MS: number("10000", 100, 600_000),
  DATA_DIR: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[^,]+$/,
        "must not contain a comma: Deno's permissions take it for the end of the path",
      ),
    ),
    ".data",
  ),
  DENO_DEPLOYMENT_ID: v.optional(v.string()),
  DOCS: v.optional(Truth, "true"),
  HOST: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[\w.:-]+$/, "must be a host name or an IP address"),
    ),
  ),
  JWT_AUDIENCE: v.optional(v.pipe(v.string(), v.nonEmpty("must not be empty"))),
  JWT_ISSUER: v.optional(v.pipe(v.string(), v.nonEmpty("must not be empty"))),
  JWT_JWKS_URL: v.optional(v.pipe(
    v.string(),
    v.check(
      isTrustworthy,
      "must be an https address, or one of this machine (127.0.0.1, localhost, [::1])",
    ),
    v.transform((url) => new URL(url)),
  )),
  JWT_SECRET: v.optional(
    v.pipe(v.string(), v.minBytes(32, "must have at least 32 bytes")),
  ),
  LOG_LEVEL: v.optional(
    v.picklist(
      ["debug", "info", "warn", "error"],
      "must be debug, info, warn or error",
    ),
    "info",
  ),
  MAX_BODY_BYTES: number("1048576", 1, 1_073_741_824),
  MIGRATE_ON_START: v.optional(Truth, "true"),
  PORT: number("8000", 1, 65_535),
});

function number(standard: string, least: number, most: number) {
  const expected = `must be a whole number from ${least} to ${most}`;
  return v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,10}$/, expected),
      v.transform(Number),
      v.minValue(least, expected),
      v.maxValue(most, expected),
    ),
    standard,
  );
}

function isTrustworthy(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" ||
    protocol === "http:" &&
      /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The form in which browsers send an origin, since the two are compared as text. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) &&
    new URL(text).origin === text;
}

/** A Unix socket in any form that libpq knows: no host, an encoded path, or the parameter `host`. */
function hasTcpHost(address: string): boolean {
  const url = URL.parse(address);
  return /^[^%/]+$/.test(url?.hostname ?? "") && !url?.searchParams.has("host");
}
