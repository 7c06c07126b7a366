import { assert, assertEquals, assertThrows } from "@std/assert";
import { findUnknownVariables, POOL_SIZE, readConfig } from "../../schema/config.ts";

/** Invalid values of variables. No message may contain them. */
const WRONG: Record<string, string[]> = {
  API_PREFIX: [
    "api0",
    "/api0/",
    "//",
    "/a b",
    "/a?b",
    "/..",
    "/x/../y",
    "/.x/.",
  ]
    .concat("/:id", "/(x)", "/*", "/%61", "http://x/api0", "/a\nb", "/é"),
  CORS_ORIGINS: [
    "x.example",
    "https://x.example/path",
    "null",
    "ftp://x.example",
    "*",
    "https://x.example/",
    "https://*.x.example",
    "https://X.example",
    "https://x.example:443",
    "https://x.example,",
    "file:///tmp",
  ],
  DATABASE_URL: [
    "postgres:///db?host=/run/secret0",
    "postgres://%2Frun%2Fsecret0/db",
    "postgres://h/d?host=/run/secret0",
    "postgres:///secret0",
    "postgres://u:secret0@h1,h2/d",
    "postgres://u:secret0@h1:5432,h2:5433/d",
    "localhost",
    "mysql://u:secret0@h/d",
    "postgresql://",
    "file:x",
    "postgres://u:secret0%ZZ@h/d",
    "postgres://u:secret0@h/d?sslmode=disabled",
    "postgres://u:secret0@h/d?target_session_attrs=read-write",
  ]
    .concat("postgres:/u:secret0@h/d", "postgres://u:secret0@h:99999/d", "://"),
  DATABASE_POOL_SIZE: [
    "0",
    "-1",
    "101",
    "2.5",
    "1e1",
    "ten",
    "0x8",
    " 8",
    "８",
  ],
  DATA_DIR: ["data,base", ","],
  DATABASE_PREPARE: ["0", "yes", "TRUE", "False", "true;"],
  DATABASE_STATEMENT_TIMEOUT_MS: ["0", "99", "600001", "10s", "-5000", "1e4"],
  DATABASE_REPLICA_URL: [
    "localhost",
    "mysql://u:secret0@h/d",
    "postgres://u:secret0@h:99999/d",
  ],
  HOST: ["a b", "http://x", "x/y", "::1]", "a,b", "é"],
  JWT_JWKS_URL: [
    "id.example",
    "http://id.example/keys",
    "file:///keys",
    "/keys",
  ]
    .concat("http://127.0.0.1.id.example/", "http://localhost.id.example/"),
  JWT_SECRET: ["short0", "x".repeat(31), "é".repeat(15)],
  LOG_LEVEL: ["trace", "INFO", "2", "none", "error;"],
  MAX_BODY_BYTES: ["0", "-1", "1MiB", "1.5", "1073741825", "9".repeat(30)],
  MIGRATE_ON_START: ["0", "yes", "TRUE", "no"],
  PORT: ["0", "65536", "http", "-1", "80.0", "0x50", " 80", "8e3"],
};

const JWKS = {
  JWT_JWKS_URL: "https://id.example/keys",
  JWT_ISSUER: "https://id.example/",
  JWT_AUDIENCE: "catalogue",
};

const SECRET = "s3cret".repeat(6);

Deno.test("readConfig requires no variable", () => {
  const { host, port, apiPrefix, database, token, ...rest } = read({});

  assertEquals({ host, port, apiPrefix, token }, {
    host: "127.0.0.1",
    port: 8000,
    apiPrefix: "/api",
    token: undefined,
  });
  assertEquals(database, {
    url: undefined,
    dataDir: ".data",
    poolSize: POOL_SIZE,
    prepare: true,
    statementTimeoutMs: 10_000,
  });
  assertEquals(rest.maxBodyBytes, 1_048_576);
  assertEquals(rest.logLevel, "info");
  assertEquals(rest.migrateOnStart, true);
});

Deno.test("readConfig reads a list of origins", () => {
  const CORS_ORIGINS = "https://app.example, http://localhost:5173";

  assertEquals(read({ CORS_ORIGINS }).corsOrigins, CORS_ORIGINS.split(", "));
  assertEquals(read({}).corsOrigins, []);
});

Deno.test("readConfig treats an empty variable as unset", () => {
  const names = [...Object.keys(WRONG), "DATA_DIR", "JWT_ISSUER"];
  const empty = Object.fromEntries(names.map((name) => [name, ""]));

  assertEquals(read(empty), read({}));
});

Deno.test("readConfig listens on all addresses only with DATABASE_URL", () => {
  const DATABASE_URL = "postgresql://u:p@db.example/catalogue";

  assertEquals(read({ DATABASE_URL }).host, "0.0.0.0");
  assertEquals(read({ DATABASE_URL, HOST: "::1" }).host, "::1");
  assertEquals(read({ HOST: "0.0.0.0" }).host, "0.0.0.0");
});

Deno.test("readConfig gives the replica the primary's settings", () => {
  const DATABASE_URL = "postgresql://u:p@db.example/catalogue";
  const DATABASE_REPLICA_URL = "postgresql://u:p@replica.example/catalogue";

  const { database, replica } = read({ DATABASE_URL, DATABASE_REPLICA_URL });

  assertEquals(replica, { ...database, url: DATABASE_REPLICA_URL });
  assertEquals(read({ DATABASE_URL }).replica, undefined);
});

Deno.test("readConfig names an invalid variable in one line, without its value", () => {
  for (const [name, values] of Object.entries(WRONG)) {
    for (const value of values) {
      const { message } = assertThrows(
        () => read({ ...name === "JWT_JWKS_URL" && JWKS, [name]: value }),
        Error,
      );

      assert(
        message.startsWith(`${name} must `),
        `${name}=${value}: ${message}`,
      );
      assert(!message.includes("\n"));
      assert(value.length < 4 || !message.includes(value), message);
      assert(!/secret0|short0|api0/.test(message));
    }
  }
});

Deno.test("readConfig reads a secret or a key set for tokens", () => {
  assertEquals(read({ JWT_SECRET: SECRET }).token, {
    secret: SECRET,
    issuer: undefined,
    audience: undefined,
  });
  assertEquals(read(JWKS).token, {
    jwksUrl: new URL(JWKS.JWT_JWKS_URL),
    issuer: JWKS.JWT_ISSUER,
    audience: JWKS.JWT_AUDIENCE,
  });
  for (const host of ["localhost", "127.0.0.1:8080", "127.1.2.3", "[::1]"]) {
    const JWT_JWKS_URL = `http://${host}/keys`;

    assert(read({ ...JWKS, JWT_JWKS_URL }).token);
  }
});

Deno.test("readConfig refuses contradictory variables", () => {
  const { JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE } = JWKS;
  const DATABASE_REPLICA_URL = `postgres://u:${SECRET}@h/d`;
  const wrong: [string, Record<string, string>][] = [
    ["JWT_ISSUER", { JWT_JWKS_URL, JWT_AUDIENCE }],
    ["JWT_AUDIENCE", { JWT_JWKS_URL, JWT_ISSUER }],
    ["JWT_SECRET", { ...JWKS, JWT_SECRET: SECRET }],
    ["JWT_SECRET or JWT_JWKS_URL", { JWT_ISSUER, JWT_AUDIENCE }],
    ["DATABASE_URL", { DENO_DEPLOYMENT_ID: "x" }],
    ["DATABASE_URL", { DATABASE_REPLICA_URL }],
  ];
  for (const [name, variables] of wrong) {
    const { message } = assertThrows(() => read(variables), Error);

    assert(message.startsWith(`${name} must `), message);
    assert(!message.includes("s3cret"));
  }
});

Deno.test("readConfig names all that is wrong at once, a line each", () => {
  const variables = {
    PORT: "http",
    DATABASE_URL: "db?host=secret0",
    DATABASE_REPLICA_URL: "mysql://secret0",
    JWT_JWKS_URL: JWKS.JWT_JWKS_URL,
    HISTORY_DAYZ: "30",
  };

  const { message } = assertThrows(() => read(variables), Error);

  assertEquals(message.split("\n").map((line) => line.split(" must ")[0]), [
    "DATABASE_URL",
    "DATABASE_REPLICA_URL",
    "PORT",
    "JWT_ISSUER",
    "JWT_AUDIENCE",
    "The variable HISTORY_DAYZ is unknown: did you mean HISTORY_DAYS?",
  ]);
  assert(!message.includes("secret0"));
});

Deno.test("findUnknownVariables warns only of likely misspellings", () => {
  const misspelled = {
    DATABSE_URL: "DATABASE_URL",
    DATABASE_URI: "DATABASE_URL",
    database_url: "DATABASE_URL",
    DATABASE_POOLSIZE: "DATABASE_POOL_SIZE",
    JWT_SECRETS: "JWT_SECRET",
    JWT_ISUER: "JWT_ISSUER",
    CORS_ORIGIN: "CORS_ORIGINS",
    LOGLEVEL: "LOG_LEVEL",
    PORTT: "PORT",
    HHOST: "HOST",
    OTEL_EXPORTER_OTLP_ENDPIONT: "OTEL_EXPORTER_OTLP_ENDPOINT",
  };
  const others = ["PATH", "HOSTNAME", "PGHOST", "DATABASE_URL", "JWT_SECRET"]
    .concat(
      "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
      "DATABASE_USER",
      "POST",
      "PORTS",
    );

  const warnings = findUnknownVariables([
    ...Object.keys(misspelled),
    ...others,
  ]);

  assertEquals(
    warnings,
    Object.entries(misspelled).map(([name, meant]) =>
      `The variable ${name} is unknown: did you mean ${meant}?`
    ),
  );
});

function read(variables: Record<string, string>) {
  return readConfig((name) => variables[name], Object.keys(variables));
}
