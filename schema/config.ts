import * as v from "valibot";

/** How Bearer tokens are verified: by a shared secret, or by the keys at an address. */
export type TokenConfig =
  & ({ secret: string } | { jwksUrl: URL })
  & { issuer?: string | undefined; audience?: string | undefined };

const PostgresUrl = v.pipe(
  v.string(),
  v.check(
    (url) => /^postgres(?:ql)?:\/\/./.test(url) && URL.canParse(url),
    "must be a PostgreSQL URL: postgres://user:password@host:5432/database",
  ),
);

const Truth = v.pipe(
  v.picklist(["true", "false"], "must be true or false"),
  v.transform((is) => is === "true"),
);

/**
 * A third are for looking up, of which each asks for several requests; the rest
 * for lists and writes. With fewer the disks have less to do at a time than they
 * can, with more the processors of the database more than they can.
 */
export const POOL_SIZE = 9;

/** Every variable that the service reads; `deno.json` allows these and no others. */
const Environment = v.object({
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
    v.pipe(v.string(), v.nonEmpty("must name a folder")),
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

/** A wrong value of a variable; the message names the variable and never the value. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the configuration from the environment; a variable that is empty counts
 * as unset. Throws `ConfigError`.
 */
export function readConfig(environment: (name: string) => string | undefined) {
  const given = Object.keys(Environment.entries)
    .flatMap((name) => environment(name) ? [[name, environment(name)]] : []);
  const read = v.safeParse(Environment, Object.fromEntries(given));
  if (!read.success) {
    const [{ path, message }] = read.issues;
    throw new ConfigError(`${path?.[0]?.key} ${message}`);
  }
  const env = read.output;
  if (env.DENO_DEPLOYMENT_ID && !env.DATABASE_URL) {
    throw new ConfigError(
      "DATABASE_URL must be set on Deno Deploy: nothing kept on its disk lasts",
    );
  }
  if (env.DATABASE_REPLICA_URL && !env.DATABASE_URL) {
    throw new ConfigError(
      "DATABASE_URL must be set with DATABASE_REPLICA_URL, which follows it",
    );
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
    host: env.HOST ?? (env.DATABASE_URL ? "0.0.0.0" : "127.0.0.1"),
    logLevel: env.LOG_LEVEL,
    maxBodyBytes: env.MAX_BODY_BYTES,
    migrateOnStart: env.MIGRATE_ON_START,
    port: env.PORT,
    replica: env.DATABASE_REPLICA_URL
      ? { ...database, url: env.DATABASE_REPLICA_URL }
      : undefined,
    token: tokenConfig(env),
  };
}

function tokenConfig(
  env: v.InferOutput<typeof Environment>,
): TokenConfig | undefined {
  const claims = { issuer: env.JWT_ISSUER, audience: env.JWT_AUDIENCE };
  if (env.JWT_JWKS_URL) {
    if (env.JWT_SECRET) {
      throw new ConfigError(
        "JWT_SECRET must not be set together with JWT_JWKS_URL",
      );
    }
    if (!env.JWT_ISSUER) {
      throw new ConfigError("JWT_ISSUER must be set with JWT_JWKS_URL");
    }
    if (!env.JWT_AUDIENCE) {
      throw new ConfigError("JWT_AUDIENCE must be set with JWT_JWKS_URL");
    }
    return { jwksUrl: env.JWT_JWKS_URL, ...claims };
  }
  if (env.JWT_SECRET) return { secret: env.JWT_SECRET, ...claims };
  if (env.JWT_ISSUER || env.JWT_AUDIENCE) {
    throw new ConfigError(
      "JWT_SECRET or JWT_JWKS_URL must be set with JWT_ISSUER and JWT_AUDIENCE",
    );
  }
}

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

/** Written as browsers write it in `Origin`, with which it is compared. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) &&
    new URL(text).origin === text;
}
