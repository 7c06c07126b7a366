import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { READING_VERSION } from "../../features/onix/db/in/analysis_rules.ts";
import { copyOf, type Element } from "../../features/onix/schema/xml/element.ts";
import { BOOK } from "./records.ts";
import { message, notSentOf, readRecord, recordsOf } from "./support.ts";

/*
 * Analyses of records are cached under a key with a version of the code. So a change of what
 * reading finds out must raise that version: the readings of some records are compared with those
 * of the version before.
 */

const GOLDEN = new URL("analyses.json", import.meta.url);
const MESSAGES = new URL("messages/", import.meta.url);

interface Golden {
  version: number;
  /** The digests of readings, by record. */
  readings: Record<string, string>;
}

/** What reading a record finds out, as a digest. */
function readingOf(product: Element, header: Element): string {
  const read = readRecord(copyOf(product), copyOf(header));
  const { messages } = read;
  const found = read.kind === "rejected" ? [messages] : [
    messages,
    read.values,
    read.unmapped,
    notSentOf(read.record, "3.1"),
  ];
  return createHash("sha256").update(JSON.stringify(found)).digest("base64url").slice(0, 12);
}

/** Copies of a record, in each of which one element is gone, or its text is odd. */
function* variantsOf(record: Element, at = record): Generator<Element> {
  const all = at.children;
  for (const [i, each] of all.entries()) {
    at.children = all.toSpliced(i, 1);
    yield record;
    at.children = all;
    if (each.children.length > 0) yield* variantsOf(record, each);
    else {
      const { text } = each;
      each.text = `${text} 1,234`;
      yield record;
      each.text = text;
    }
  }
}

async function readings(): Promise<Golden["readings"]> {
  const found: Golden["readings"] = {};
  const names = Array.from(Deno.readDirSync(MESSAGES), ({ name }) => name).sort();
  for (const name of names) {
    if (name === "not_well_formed.xml") continue;
    const { header, records } = await recordsOf(Deno.readTextFileSync(new URL(name, MESSAGES)));
    records.forEach((each, i) => found[`${name} ${i + 1}`] = readingOf(each, header));
  }
  const { header, records: [book] } = await recordsOf(message(BOOK));
  const odd = createHash("sha256");
  for (const each of variantsOf(book!)) odd.update(readingOf(each, header));
  found["variants of a book"] = odd.digest("base64url").slice(0, 12);
  return found;
}

Deno.test("A change of what reading finds out raises READING_VERSION", async () => {
  const golden: Golden = JSON.parse(await Deno.readTextFile(GOLDEN));
  const current: Golden = { version: READING_VERSION, readings: await readings() };
  const isSame = JSON.stringify(current.readings) === JSON.stringify(golden.readings);
  assert(
    isSame || READING_VERSION > golden.version,
    `Records are read differently: set READING_VERSION in features/onix/db/in/analysis_rules.ts to ${
      golden.version + 1
    }, then renew analyses.json by UPDATE_GOLDEN=1 deno task test tests/onix/analyses_test.ts`,
  );
  if (Deno.env.get("UPDATE_GOLDEN")) {
    await Deno.writeTextFile(GOLDEN, JSON.stringify(current, null, 2) + "\n");
  }
  assertEquals(current, JSON.parse(await Deno.readTextFile(GOLDEN)), "Renew by UPDATE_GOLDEN=1");
});
