import { assert, assertEquals } from "@std/assert";
import { openOwnApp } from "../support/app/own_app.ts";
import { recount } from "../../db/doctor/recount.ts";
import { recorded, textsInto } from "../support/app/recording.ts";
import { everyStatement } from "./requests.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { fillWithoutStatistics, readsOfOrganization } from "./plans.ts";
import { MIGRATIONS } from "../support/sql/folder.ts";
import { readSchema, type Schema } from "./schema.ts";
import {
  brokenBy as brokenByFile,
  brokenTables,
  MIGRATION_RULES,
  SCHEMA_RULES,
} from "./schema_rules.ts";
import { brokenBy, STATEMENT_RULES } from "./statement_rules.ts";
import { transferStatements } from "./transfer_statements.ts";
import { WRONG_MIGRATIONS, WRONG_STATEMENTS, WRONG_TABLES } from "./wrong.ts";

/*
 * The database can be distributed by organization (sql/citus.sql) while these
 * rules hold. The tests check them without a cluster.
 */

/** Commands may write tables that every node copies. Requests never do. */
const OF_COMMANDS = /^(insert into|update|delete from) (api_keys|organization_members)\b/;
const NO_VOLATILE = "calls no volatile function in a write, nor through a column default";
const OF_REQUESTS = "writes no table that every node has";

/** Senders of webhooks and workers in chunks look for work of all organizations, and commands list these. Requests never do. */
const OF_WORKERS =
  /^select (\(select count\(\*\) from webhooks\b|exists \(select 1 from renames\)|o\.id from organizations o\b|id, name from organizations\b)/;

/** Statements that are planned. */
const PLANNED = /^(select|with|insert|update|delete) /;

/**
 * Lists, searches and totals; the products that refer to a record, for which an
 * index would cost each write of a product; and who looks for several keys at once, until
 * there are some 50,000 products.
 * Erasing a contributor, a command, finds the deletions by their own index.
 */
const READS_MANY =
  /^(with found|select (\(count\(\*\) filter|to_json\(array\[|\( select count\(|[ru]\.currency_code, |array_to_json|string_agg\(f\.id|\( ?select case when|\(select count\())|\breferring\b|\bor [( ]*p\.isbn13 = any|^update product_documents x set onix/;
const OF_ONE_ORGANIZATION = [
  "names the organization, as a parameter, for every table of organizations",
  "compares no organization with another table's",
];

/**
 * The statements that store versions, of which they return the size, bring back what one has, and
 * note how far retention has come. Real nodes of Citus have run them (citus_cluster.ts).
 */
const STORES_VERSIONS =
  /^(insert into product_documents (as d )?\(|update product_documents d set names_version|insert into history_clock )/;
const OF_VERSIONS = [
  "adds intervals to columns only in UTC",
  "does not nest now() in coalesce or case",
  "returns columns of what it writes, and calls no function on them",
  "writes no table that every node has",
  "inserts values, or selects the organization out of one of its tables",
];

/** Imports select rows out of the file's: Citus reads them on the coordinator, and sends them to the node. */
const OF_TRANSFERS = [
  "inserts values, or selects the organization out of one of its tables",
  "does not nest now() in coalesce or case",
  "calls no volatile function in a write, nor through a column default",
];

Deno.test("The rules of a distributable database", async ({ step: it }) => {
  await using app = await openOwnApp();
  const schema = await readSchema(app.sql);
  const statements = await everyStatement(app);

  await it("hold in the tables", async () => {
    assertEquals(await brokenTables(app.sql, schema.shared), []);
  });

  await it("hold in the migrations after the first", async () => {
    for (const file of MIGRATIONS.slice(1)) {
      const text = await Deno.readTextFile(
        new URL(`../../sql/migrations/${file}`, import.meta.url),
      );
      assertEquals(brokenByFile(text), [], file);
    }
  });

  await it("hold in the statements of requests", () => {
    const broken = brokenRules(statements, schema).filter(({ rule, statement }) =>
      (rule !== OF_REQUESTS || !OF_COMMANDS.test(statement.trim())) &&
      (!OF_ONE_ORGANIZATION.includes(rule) || !OF_WORKERS.test(oneLine(statement)))
    );

    assertEquals(broken, []);
  });

  await it("hold in the statements of exports and imports", async () => {
    const broken = brokenRules(await transferStatements(), schema)
      .filter(({ rule }) => !OF_TRANSFERS.includes(rule));

    assertEquals(broken, []);
  });

  await it("hold in a recount, which writes every table", async () => {
    const written = new Set<string>();
    const database = recorded(app.database, textsInto(written));
    await recount(database.for({ deadline: performance.now() + 60_000 }));

    const volatile = Array.from(written).filter((statement) =>
      brokenBy(statement, schema).includes(NO_VOLATILE)
    );
    assertEquals(volatile, []);
  });

  await it({
    name: "cover every statement of requests",
    async fn() {
      const sent = Array.from(statements, oneLine);

      const missed = (await templates()).filter((template) =>
        !sent.some((statement) => statement.includes(template))
      );

      assertEquals(missed, []);
    },
  });

  await it({
    name: "are kept by look-ups that read no organization without statistics",
    // The embedded database is analyzed once a minute.
    ignore: !SETTINGS.url,
    async fn() {
      await using full = await openOwnApp();
      const tables = await fillWithoutStatistics(full.sql);
      await full.sql.begin(async (sql) => {
        await sql`set local plan_cache_mode = force_generic_plan`;
        await sql`set local random_page_cost = 1.1`;
        const reading: string[] = [];
        for (const statement of statements) {
          const text = oneLine(statement);
          if (!PLANNED.test(text) || READS_MANY.test(text)) continue;
          const reads = await readsOfOrganization(sql, statement, tables);
          if (reads.length > 0) reading.push(`${reads}: ${text}`);
        }
        assertEquals(reading, []);
      });
    },
  });

  for (const rule of STATEMENT_RULES) {
    await it(`find a statement that breaks "${rule}"`, () => {
      const statement = WRONG_STATEMENTS[rule];

      assert(statement, "This rule has a counter-example");
      assertEquals(brokenBy(statement, schema), [rule]);
    });
  }

  for (const rule of SCHEMA_RULES) {
    await it(`find a table that breaks "${rule}"`, async () => {
      const undo = new Error("Undo");
      let broken: string[][] = [];
      await app.sql.begin(async (sql) => {
        await sql.unsafe(WRONG_TABLES[rule]!);
        broken = await brokenTables(sql, schema.shared);
        throw undo;
      }).catch((error) => assertEquals(error, undo));

      assertEquals(broken.map(([rule]) => rule), [rule]);
    });
  }

  for (const rule of MIGRATION_RULES) {
    await it(`find a migration that breaks "${rule}"`, () => {
      assertEquals(brokenByFile(WRONG_MIGRATIONS[rule]!), [rule]);
    });
  }
});

/** The rules that the statements break, except where these store versions. */
function brokenRules(statements: Iterable<string>, schema: Schema) {
  return Array.from(statements).flatMap((statement) =>
    brokenBy(statement, schema)
      .filter((rule) => !OF_VERSIONS.includes(rule) || !STORES_VERSIONS.test(oneLine(statement)))
      .map((rule) => ({ rule, statement }))
  );
}

/** Files whose statements no request sends, or which name no table. */
const OF_OPERATORS =
  /^db\/(command_line|commands|connections|doctor)\/|^db\/(database|demo|migrate|origin|replica|snapshot)\.ts$|^features\/transfer\//;

const ROOT = new URL("../../", import.meta.url);

const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*/g;

/** The first words of each tagged template in the files of requests: those of the core, and the `db` of features. */
async function templates(): Promise<string[]> {
  const texts = await Promise.all(
    [...filesIn("db"), ...filesIn("features").filter((path) => /^features\/\w+\/db\b/.test(path))]
      .filter((path) => !OF_OPERATORS.test(path))
      .map((path) => Deno.readTextFile(new URL(path, ROOT))),
  );
  return texts.flatMap((text) =>
    Array.from(
      text.replace(COMMENTS, "").matchAll(/\bsql(?:<[^`;]*>)?`([^`$]*)/g),
      ([, template]) => oneLine(template!),
    )
  );
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function filesIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(new URL(`${folder}/`, ROOT))).flatMap((
    { name, isDirectory },
  ) =>
    isDirectory ? filesIn(`${folder}/${name}`) : name.endsWith(".ts") ? `${folder}/${name}` : []
  );
}
