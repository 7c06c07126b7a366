import * as v from "valibot";
import { Environment, VARIABLES } from "./environment.ts";
import { isMisspelling } from "./misspelling.ts";

/** The verification of Bearer tokens: by a shared secret, or by the JWK Set at a URL (RFC 7517). */
export type TokenConfig =
  & ({ secret: string } | { jwksUrl: URL })
  & { issuer?: string; audience?: string };

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the configuration from the environment. An empty variable counts as unset.
 * Throws an error that contains the name of an invalid variable, never its value.
 */
export function readConfig(environment: (name: string) => string | undefined) {
  const given = Object.keys(VARIABLES.entries)
    .map((name) => [name, environment(name) || undefined]);
  const read = v.safeParse(Environment, Object.fromEntries(given));
  if (!read.success) {
    const [{ path, message }] = read.issues;
    throw new Error(path ? `${path[0].key} ${message}` : message);
  }
  const env = read.output;
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
export function findUnknownVariables(names: string[]): string[] {
  const known = [...Object.keys(VARIABLES.entries), ...OTEL];
  return names.filter((name) => !known.includes(name)).flatMap((name) => {
    const meant = known.find((known) => isMisspelling(name, known));
    return meant
      ? [`The variable ${name} is unknown: did you mean ${meant}?`]
      : [];
  });
}

function tokenConfig(
  env: v.InferOutput<typeof Environment>,
): TokenConfig | undefined {
  const { JWT_JWKS_URL: jwksUrl, JWT_SECRET: secret } = env;
  const claims = { issuer: env.JWT_ISSUER, audience: env.JWT_AUDIENCE };
  if (jwksUrl) return { jwksUrl, ...claims };
  if (secret) return { secret, ...claims };
}
