import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../..", import.meta.url);

/** The core. A file imports only from its own folder and from those before it, and from no feature. */
const CORE = [
  "deno.json",
  "sql",
  "schema",
  "db/connections",
  "db",
  "db/products",
  "db/records",
  "db/command_line",
  "db/doctor",
  "middleware",
];

/** The layers of a feature, each a file or a folder. They come after the core, in this order. */
const OF_FEATURE = ["schema", "db", "sender", "routes", "commands"];

/** The folders of a layer that has several, in their order. Files of the layer itself come last. */
const PARTS: Record<string, string[]> = {
  "db/products": ["change", "documents", "lists", "errors", "statements"],
  "features/onix/schema": [
    "rules",
    "xml",
    "valid",
    "withheld",
    "report",
    "codecs",
    "mapping",
    "merge",
    "doors",
  ],
  "features/onix/db": ["out", "links", "in"],
};

/** What puts the core and the features together. */
const TOGETHER = ["db/commands", "routes/openapi/prose", "routes/openapi", "routes", "main.ts"];

/** The order of all. */
const LAYERS = [...CORE, ...OF_FEATURE.map((layer) => `features/${layer}`), ...TOGETHER];

/** The files of `routes` that import features. The others are handlers of the core. */
const IMPORT_FEATURES = /^routes\/(operations|service|preparation|docs|openapi\/\w+)\.ts$/;

/** Which features a feature imports, and why. */
const USED_BY: Record<string, Record<string, string>> = {
  batch: { history: "An operation of a batch can restore a version" },
  history: { onix: "Entries of arrays are matched as ONIX matches them" },
  onix: { changes: "The feed of records is the feed of changes" },
  recipients: { onix: "Elements of ONIX can be left out, but those that limit" },
  readiness: { onix: "The message that would be sent is what is checked" },
  sheets: {
    changes: "A recipient that gets a sheet has fetched",
    onix: "A row names records that may not exist yet, and a workbook is XML",
  },
  transfer: {
    changes: "An export of ONIX goes on from the cursor of the last",
    onix: "The commands read and write messages",
    recipients: "An export has what a recipient sees",
    sheets: "The commands read and write sheets",
  },
  webhooks: { changes: "A webhook follows the feed" },
};

/** The only places where each package is imported. */
const PACKAGES: Record<string, RegExp> = {
  "@electric-sql/pglite": /^db\/connections\/embedded\.ts$/,
  "@valibot/to-json-schema": /^routes\/openapi\/json_schema\.ts$/,
  "marked": /^routes\/guides\.ts$/,
  "@zip.js/zip.js": /^features\/sheets\/schema\/workbook\/(archive|write)\.ts$/,
  "csv-stringify": /^features\/sheets\/schema\/csv\.ts$/,
  "jose": /^middleware\/jwt\.ts$/,
  "postgres": /^db\/connections\/connection\.ts$/,
  "saxes": /^features\/onix\/schema\/xml\/parser\.ts$/,
  "swagger-ui-dist": /^routes\/docs\.ts$/,
  "valibot":
    /^((features\/\w+\/)?schema(\/.+)?|routes\/openapi\/\w+|middleware\/body|db\/command_line\/arguments)\.ts$/,
};

/** The only files that read the environment. */
const READS_ENVIRONMENT = ["db/commands/cli.ts", "main.ts"];

const SOURCES = new Map<string, string>();
for (const folder of ["schema", "db", "middleware", "features", "routes", "main.ts"]) {
  for (const path of filesIn(folder)) {
    SOURCES.set(path, Deno.readTextFileSync(new URL(path, ROOT)));
  }
}

Deno.test("Imports go one way", () => {
  for (const [path, imported] of imports()) {
    assert(
      SOURCES.has(imported) || /\.(json|txt)$/.test(imported),
      `${path} imports ${imported}, which is no file`,
    );
    assert(rankOf(imported) <= rankOf(path), `${path} imports ${imported}`);
    const [part, importedPart] = [partOf(path), partOf(imported)];
    const isOfSameLayer = part && part.layer === importedPart?.layer;
    assert(!isOfSameLayer || importedPart.rank <= part.rank, `${path} imports ${imported}`);
  }
});

Deno.test("The core imports no feature", () => {
  for (const [path, imported] of imports()) {
    if (!featureOf(imported) || featureOf(path) || path.startsWith("db/commands/")) continue;
    assert(IMPORT_FEATURES.test(path), `${path} imports ${imported}`);
  }
});

Deno.test("A feature imports only the features that it is said to", () => {
  const unused = new Set(
    Object.entries(USED_BY).flatMap(([feature, used]) =>
      Object.keys(used).map((other) => `${feature} imports ${other}`)
    ),
  );
  for (const [path, imported] of imports()) {
    const [feature, other] = [featureOf(path), featureOf(imported)];
    if (!feature || !other || feature === other) continue;
    assert(USED_BY[feature]?.[other], `${path} imports ${imported}`);
    unused.delete(`${feature} imports ${other}`);
  }
  assertEquals([...unused], []);
});

Deno.test("No file of ONIX imports itself by way of others", () => {
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]) => {
    assert(!way.includes(path), [...way, path].join(" imports "));
    if (done.has(path)) return;
    for (const imported of importsOf(path)) visit(imported, [...way, path]);
    done.add(path);
  };
  for (const path of SOURCES.keys()) {
    if (/^features\/onix\/(schema|db)\//.test(path)) visit(path, []);
  }
});

Deno.test("The page of ONIX names every file, and none that is gone", () => {
  const folder = "features/onix";
  const page = Deno.readTextFileSync(new URL(`${folder}/README.md`, ROOT));
  const named = new Set(Array.from(page.matchAll(/`([\w/]+)`/g), ([, name]) => name!));
  for (const path of SOURCES.keys()) {
    const [, file] =
      /^features\/onix\/(?:db|schema\/(?:doors|merge|mapping|codecs|withheld|valid|xml))\/(?:\w+\/)?(\w+)\.ts$/
        .exec(path) ?? [];
    assert(!file || named.has(file), `${path} has no row`);
  }
  for (const name of named) {
    if (!name.includes("/")) continue;
    const paths = name.startsWith("/")
      ? [name.slice(1)]
      : [name, `${folder}/${name}`, `${folder}/schema/${name}`];
    assert(paths.some((path) => isThere(path) || isThere(`${path}.ts`)), `${name} is gone`);
  }
});

function isThere(path: string): boolean {
  try {
    return Boolean(Deno.statSync(new URL(path, ROOT)));
  } catch {
    return false;
  }
}

Deno.test("Each package is imported in one place", () => {
  const used = new Set<string>();
  for (const [path, source] of SOURCES) {
    for (const specifier of specifiersOf(source)) {
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

/** All imports of files by files. */
function imports(): [path: string, imported: string][] {
  return [...SOURCES.keys()].flatMap((path) =>
    importsOf(path).map((imported): [string, string] => [path, imported])
  );
}

function importsOf(path: string): string[] {
  return specifiersOf(SOURCES.get(path) ?? "")
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => new URL(specifier, new URL(path, ROOT)).href.slice(ROOT.href.length));
}

function specifiersOf(source: string): string[] {
  const specifiers = source.matchAll(
    /(?:\bfrom\s+|^import\s+|\bimport\(\s*)"([^"]+)"/gm,
  );
  return Array.from(specifiers, ([, specifier]) => specifier!);
}

function featureOf(path: string): string | undefined {
  return /^features\/(\w+)\//.exec(path)?.[1];
}

/** Where a file stands in the order of imports. */
function rankOf(path: string): number {
  const layer = layerOf(path);
  const rank = LAYERS.indexOf(layer);
  assert(rank >= 0, `No layer contains ${path}`);
  return rank;
}

/** The folder of a file; in a feature its layer, such as `features/schema`. A file of the root is its own. */
function layerOf(path: string): string {
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : path;
  const [, layer] = /^features\/\w+\/(\w+)/.exec(path) ?? [];
  return layer ? `features/${layer}` : partOf(path)?.layer ?? folder;
}

/** The layer that has several folders, and where the folder of a file stands in it. */
function partOf(path: string): { layer: string; rank: number } | undefined {
  const layer = Object.keys(PARTS).find((layer) => path.startsWith(`${layer}/`));
  if (!layer) return;
  const parts = PARTS[layer]!;
  const [, part = ""] = /^(\w+)\//.exec(path.slice(layer.length + 1)) ?? [];
  const rank = parts.indexOf(part);
  assert(part === "" || rank >= 0, `No folder of ${layer} contains ${path}`);
  return { layer, rank: part === "" ? parts.length : rank };
}
