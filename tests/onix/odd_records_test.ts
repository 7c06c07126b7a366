import { assert, assertEquals } from "@std/assert";
import { DEFECTS } from "../../schema/defects.ts";
import type { Element } from "../../features/onix/schema/xml/element.ts";
import { toStored } from "../../features/onix/schema/xml/write.ts";
import { onixTestsOf } from "../support/client/onix.ts";
import { isbnOf, message } from "../support/data/onix.ts";
import { BOOK, least } from "./records.ts";
import { recordsOf } from "./support.ts";

/* Records with one element that is not as it should be, among others that are. */

/** What an element may say instead. */
const ODD = [
  " ",
  "\u00a0",
  "\u2028",
  "0",
  "-0",
  "1e400",
  "99999999999999999999",
  "1,234",
  "01",
  "zz",
  "__proto__",
  "constructor",
  "20260230",
  "https://a b",
  "x".repeat(2001),
];

/** Attributes that say what most elements do not. */
const ATTRIBUTES = { language: "zz", textformat: "05", dateformat: "20" };

/** Copies of a record, in each of which one element is gone, doubled, emptied or odd. */
function mutantsOf(record: Element): Element[] {
  const places = record.children.flatMap((each) => [...below(each)]);
  return places.flatMap((at, i) => {
    const saying = (text: string, attributes = at.attributes): Element => (
      { name: at.name, attributes, children: [], text }
    );
    const odd = saying(ODD[i % ODD.length]!, i % 2 ? ATTRIBUTES : undefined);
    const said = at.children.length > 0 ? [] : [[saying("")], [odd]];
    return [[], [at, at], ...said]
      .map((others) => withOthers(record, at, others));
  });
}

function* below(element: Element): Generator<Element> {
  yield element;
  for (const child of element.children) yield* below(child);
}

function withOthers(within: Element, at: Element, others: Element[]): Element {
  const children = within.children.flatMap((each) =>
    each === at ? others : [withOthers(each, at, others)]
  );
  return { ...within, children };
}

/** How many records of a message are as they should be. */
const NEIGHBOURS = 50;

const it = onixTestsOf("An odd record");

it("is read or rejected alone, with a product or without one", async ({ onix, app, org }) => {
  const defects: unknown[] = [];
  const note = (error: unknown) => void defects.push(error);
  DEFECTS.subscribe(note);
  const { records: [book] } = await recordsOf(message(BOOK));
  const mutants = mutantsOf(book!).map(toStored);
  // Each has numbers of its own, or the first one would be the only one.
  const numbered = (text: string, i: number) =>
    text.replaceAll("harbour.example.1<", `odd.${i}<`)
      .replace("9780306406157", isbnOf(i))
      .replace("978-0-306-40615-7", isbnOf(i));
  const neighbour = (_: unknown, i: number) => least(`neighbour.${i}`);
  const odd = mutants.map(numbered);
  const again = mutants.map((_, i) => numbered(mutants[(i * 7 + 3) % mutants.length]!, i)).filter((
    _,
    i,
  ) => i % 3 === 0);

  const imports: [records: string[], query: string][] = [
    [odd, ""],
    [again, "?edits=protect"],
  ];
  for (const [records, query] of imports) {
    const beside = records.slice(0, NEIGHBOURS).map(neighbour);
    const all = records.flatMap((text, i) => [text, ...beside.slice(i, i + 1)]);

    const report = await onix.report(message(...all), query);

    assertEquals(report.records, all.length);
    // Without a type, a reference, a title or a right ISBN.
    assert(report.rejected < records.length / 10, `${report.rejected}`);
  }
  const [{ count }] = await app.sql`
    select count(*)::int from products
    where organization_id = ${org.id} and title = 'Title'
  ` as [{ count: number }];
  assertEquals(count, NEIGHBOURS);
  for (const release of ["3.0", "3.1"]) {
    await onix.xml(`?limit=1000&release=${release}`);
  }

  DEFECTS.unsubscribe(note);
  assertEquals(defects, []);
  assertEquals(app.logged.filter(({ level }) => level === "error"), []);
});
