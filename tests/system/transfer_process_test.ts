import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { install } from "../../db/migrate.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { eventually } from "../support/app/eventually.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { settled } from "../support/app/settled.ts";
import { sessionOf } from "../support/sql/script.ts";
import {
  command,
  commandsOn,
  DEMO_ORGANIZATION,
  exported,
  fillDemo,
} from "../support/client/transfer.ts";
import { message, record } from "../support/data/onix.ts";
import { TIMED } from "../support/app/deadline.ts";

/** Whether `script` (util-linux) is installed, which makes terminals. */
const hasTerminals = await new Deno.Command("script", {
  args: ["--version"],
  stdout: "null",
}).output().then(({ success }) => success, () => false);

/** The products added to the demo organization: five transactions of an import, and two pages of an export. */
const MORE = 1_000;

/** An export with many products. */
async function manyProducts(): Promise<string> {
  await using app = await openApp({}, { url: undefined });
  const source = commandsOn(app);
  await fillDemo(source());
  const lines = (await exported(source(DEMO_ORGANIZATION))).split("\n");
  const end = lines.findIndex((line) => line.includes('"publishing_program"'));
  const [, id, code] = /"id":"([^"]+)","product_code":"([^"]+)"/
    .exec(lines[end - 1]!)!;
  const copies = Array.from({ length: MORE }, (_, i) => {
    const number = String(i).padStart(12, "0");
    return lines[end - 1]!
      .replace(id!, `ffffffff-0000-7000-8000-${number}`)
      .replaceAll(code!, `P-${number}`);
  });
  const [first = "", ...others] = lines.toSpliced(end, 0, ...copies);
  const { records, ...catalogue } = JSON.parse(first) as { records: number };
  return [
    JSON.stringify({ ...catalogue, records: records + MORE }),
    ...others,
  ].join("\n");
}

Deno.test("deno task export and import", TIMED, async ({ step: it }) => {
  await using fresh = SETTINGS.url ? await openFreshDatabase() : undefined;
  if (fresh) await install(fresh.operations);
  const dataDir = fresh ? "" : await preparedFolder();
  const env: Record<string, string> = fresh
    ? { DATABASE_URL: fresh.settings.url! }
    : { DATA_DIR: dataDir };
  const text = await manyProducts();
  const exporting = `$0 export --organization ${DEMO_ORGANIZATION}`;
  /** What a short import takes. */
  let importMs = 0;
  const importing = `exec $0 import --organization ${DEMO_ORGANIZATION} -`;

  /** Runs the command with this input, and returns how it ended. */
  async function run(line: string, input: string) {
    const child = command(env, line);
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
    const { code, stdout, stderr } = await child.output();
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, stdout: decode(stdout), stderr: decode(stderr) };
  }

  /** Runs the command on a terminal, with this input in a file that `cat` reads. */
  async function onTerminal(line: string, input = "") {
    const file = await Deno.makeTempFile();
    await Deno.writeTextFile(file, input);
    const inTerminal = line.replace(/^cat /, `cat ${file} `)
      .replaceAll("$0", "$CLI");
    const result = await run(
      `CLI="$0" script --quiet --return --command '${inTerminal}' /dev/null`,
      "",
    );
    await Deno.remove(file);
    return result;
  }

  await it("import completes when repeated after a kill", async () => {
    const child = command(env, importing);
    const writer = child.stdin.getWriter();
    const most = text.slice(0, text.length * 2 / 3);
    await writer.write(new TextEncoder().encode(most));
    child.kill("SIGKILL");
    await writer.abort().catch(() => {});
    await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
    assert(!(await child.status).success);

    const { code, stdout } = await run(importing, text);

    const lines = text.trimEnd().split("\n").length;
    assertEquals([code, stdout], [0, `Imported ${lines} lines\n`]);
  });

  await it("import takes a file with fewer lines, and says that there are fewer", async () => {
    const fewer = text.split("\n").slice(0, 10).join("\n");

    const started = performance.now();
    const { code, stderr } = await run(importing, fewer);
    importMs = performance.now() - started;

    assertEquals(code, 0);
    assertMatch(stderr, /The file has 9 of the \d+ records of its export/);
  });

  await it("export is reproducible, and prints nothing else", async () => {
    const { code, stdout, stderr } = await run(exporting, "");

    assertEquals([code, stderr], [0, ""]);
    assert(stdout === text);
  });

  await it("export ends with a status when its reader closes the pipe", async () => {
    if (fresh) await settled(sessionOf(fresh.operations));
    for (const format of ["ndjson", "onix"]) {
      const { stdout, stderr } = await run(
        `(${exporting} --format ${format}; echo "status $?" >&2) | head -n 1`,
        "",
      );

      const [first] = format === "onix"
        ? ['<?xml version="1.0" encoding="UTF-8"?>']
        : text.split("\n");
      assertEquals([stdout, stderr], [`${first}\n`, "status 1\n"]);
    }
  });

  await it("import says what it has written when interrupted", async () => {
    const records = Array.from(
      { length: 150 },
      (_, i) => record({ reference: `interrupted ${i}`, isbn: null }),
    );
    const child = command(env, importing);
    const writer = child.stdin.getWriter();
    const begun = message(...records).replace("</ONIXMessage>", "");
    await writer.write(new TextEncoder().encode(begun));
    // The process reads slower than this one writes. It alone can read an embedded database.
    if (fresh) {
      const sql = sessionOf(fresh.operations);
      await eventually(true, async () => {
        const written = await sql`select from onix_records where record like '%>interrupted 0<%'`;
        return written.length > 0;
      });
    } else await pause(Math.max(2_000, 2 * importMs));

    child.kill("SIGINT");
    const { code, stdout, stderr } = await child.output();
    await writer.abort().catch(() => {});

    const said = new TextDecoder().decode(stderr);
    assertEquals([code, stdout.length], [1, 0]);
    assertMatch(said, /\n?The import was interrupted\n$/);
    const [, created] = /^(\d+) created, 0 updated/m.exec(said)!;
    // A slow machine writes a first group of fewer than 100.
    assert(Number(created) > 0);
    if (fresh) await settled(sessionOf(fresh.operations));
    const { code: ended, stdout: xml } = await run(`${exporting} --format onix`, "");
    const shown = xml.match(/>interrupted \d+</g)?.length;
    assertEquals([ended, shown], [0, Number(created)]);
  });

  await it("import lists the lines that it refuses, and fails", async () => {
    const input = `{"kind":"catalogue","version":2,"organization":{"name":"A"}}\n\n{}\n`;
    const hostile = String.raw`{"kind":"\u001b[2J\n"}`;

    const { code, stdout, stderr } = await run(importing, input + hostile);

    assertEquals([code, stdout], [1, ""]);
    assertMatch(
      stderr,
      /^Line 3: kind must be a string\nLine 4: There is no kind "\\u001b\[2J\\u000a"\nThis run is [-\da-f]{36}\. To undo it: .+\n2 of 4 lines were refused\n$/,
    );
  });

  await it({
    name: "import shows on a terminal how far a pipe is",
    ignore: !hasTerminals,
    async fn() {
      const line = `cat | $0 import --organization ${DEMO_ORGANIZATION} -`;

      const { code, stdout } = await onTerminal(line, text);

      assertEquals(code, 0);
      assertMatch(stdout, /Importing 0\.\d MB, 0 lines/);
      const bytes = (text.length / 1e6).toFixed(1);
      const lines = (text.split("\n").length - 1).toLocaleString("en");
      assertStringIncludes(stdout, `Importing ${bytes} MB, ${lines} lines`);
    },
  });

  await it("import reports a missing file", async () => {
    const line = `$0 import --organization ${DEMO_ORGANIZATION} none.ndjson`;

    const { code, stderr } = await run(line, "");

    assertEquals(code, 1);
    assertMatch(stderr, /^No such file [^\n]*'none\.ndjson'\n$/);
  });
});
