import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** A file imports only from its own layer and from the layers before it. */
const LAYERS = [
  "deno.json",
  "sql",
  "schema",
  "schema/onix/profiles",
  "schema/onix/rules",
  "schema/onix/xml",
  "schema/onix/report",
  "schema/onix/mapping",
  "schema/onix",
  "schema/sheets",
  "schema/openapi",
  "db/connections",
  "db",
  "db/products",
  "db/history",
  "db/records",
  "db/onix",
  "db/sheets",
  "db/webhooks",
  "db/transfer",
  "db/commands",
  "middleware/sender",
  "middleware",
  "routes",
  "main.ts",
];

/** The only places where each package is imported. */
const PACKAGES: Record<string, RegExp> = {
  "@electric-sql/pglite": /^db\/connections\/embedded\.ts$/,
  "@valibot/to-json-schema": /^schema\/openapi\/json_schema\.ts$/,
  "marked": /^routes\/guides\.ts$/,
  "csv-parse": /^schema\/sheets\/read\.ts$/,
  "csv-stringify": /^db\/sheets\/export\.ts$/,
  "jose": /^middleware\/jwt\.ts$/,
  "postgres": /^db\/connections\/connection\.ts$/,
  "saxes": /^schema\/onix\/xml\/parser\.ts$/,
  "swagger-ui-dist": /^routes\/docs\.ts$/,
  "valibot": /^(schema\/.+|middleware\/body|db\/commands\/arguments)\.ts$/,
};

/** The only files that read the environment. */
const READS_ENVIRONMENT = ["db/commands/cli.ts", "main.ts"];

const SOURCES = new Map<string, string>();
for (const layer of ["schema", "db", "middleware", "routes", "main.ts"]) {
  for (const path of filesIn(layer)) {
    SOURCES.set(path, Deno.readTextFileSync(new URL(path, ROOT)));
  }
}

Deno.test("Imports go one way", () => {
  for (const [path, source] of SOURCES) {
    for (const specifier of importsOf(source)) {
      if (!specifier.startsWith(".")) continue;
      const { href } = new URL(specifier, new URL(path, ROOT));
      const imported = href.slice(ROOT.href.length);

      assert(
        SOURCES.has(imported) || /\.(json|txt)$/.test(imported),
        `${path} imports ${imported}`,
      );
      assert(
        rankOf(imported) <= rankOf(path),
        `${path} imports ${imported}`,
      );
    }
  }
});

Deno.test("No file of ONIX imports itself by way of others", () => {
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]) => {
    assert(!way.includes(path), [...way, path].join(" imports "));
    if (done.has(path)) return;
    for (const specifier of importsOf(SOURCES.get(path) ?? "")) {
      if (!specifier.startsWith(".")) continue;
      const { href } = new URL(specifier, new URL(path, ROOT));
      visit(href.slice(ROOT.href.length), [...way, path]);
    }
    done.add(path);
  };
  for (const path of SOURCES.keys()) {
    if (/^(schema|db)\/onix\//.test(path)) visit(path, []);
  }
});

Deno.test("Each package is imported in one place", () => {
  const used = new Set<string>();
  for (const [path, source] of SOURCES) {
    for (const specifier of importsOf(source)) {
      if (/^(\.|node:)/.test(specifier)) continue;
      const [, name = ""] = /^((?:@[^/]+\/)?[^/]+)/.exec(specifier) ?? [];

      assert(PACKAGES[name]?.test(path), `${path} imports ${specifier}`);
      used.add(name);
    }
  }
  assertEquals([...used].sort(), Object.keys(PACKAGES).sort());
});

Deno.test("A start installs only imported packages", async () => {
  const lock = JSON.parse(
    await Deno.readTextFile(new URL("deno.lock", ROOT)),
  ) as { specifiers: Record<string, string> };

  const installed = Object.keys(lock.specifiers)
    .map((specifier) => specifier.replace(/^npm:(.+)@.+$/, "$1"));

  assertEquals(installed.sort(), Object.keys(PACKAGES).sort());
});

Deno.test("Only programs read the environment", () => {
  const readers = [...SOURCES].flatMap(([path, source]) =>
    /Deno\.env|process\.env/.test(source) ? [path] : []
  );

  assertEquals(readers.sort(), READS_ENVIRONMENT);
});

function filesIn(path: string): string[] {
  if (path.endsWith(".ts")) return [path];
  return [...Deno.readDirSync(new URL(path, ROOT))].flatMap((
    { name, isDirectory },
  ) => isDirectory || name.endsWith(".ts") ? filesIn(`${path}/${name}`) : []);
}

function importsOf(source: string): string[] {
  const specifiers = source.matchAll(
    /(?:\bfrom\s+|^import\s+|\bimport\(\s*)"([^"]+)"/gm,
  );
  return Array.from(specifiers, ([, specifier]) => specifier!);
}

/** The index of a file's layer. The files next to `main.ts` are layers of their own. */
function rankOf(path: string): number {
  const layer = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : path;
  const rank = LAYERS.indexOf(layer);
  assert(rank >= 0, `No layer contains ${path}`);
  return rank;
}
