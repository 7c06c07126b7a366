import { SaxesParser } from "saxes";
import { isbnOf, message, record } from "../support/data/onix.ts";
import { SAMPLES } from "../onix/support.ts";
import type { Contestant, Load, Scenario } from "./contest.ts";
import { requests } from "./requests.ts";

/** The records of a message. */
const COUNT = 2_000;

/** The text of each short record. */
const TEXT = `<CollateralDetail><TextContent><TextType>03</TextType>
<ContentAudience>00</ContentAudience><Text>${
  "A description of the book, which goes on for a while. ".repeat(60)
}</Text></TextContent></CollateralDetail>`;

/** The record of a new ISBN, in an edition that differs from the others. */
type RecordOf = (isbn: string, edition: number) => string;

/** A record with few elements and one text. */
const short: RecordOf = (isbn, edition) =>
  record({
    reference: `bench.example.${isbn}`,
    isbn,
    title: `Book ${isbn}`,
    pages: 100 + edition,
    price: `${5 + edition}.99`,
    contributors: [`Author ${isbn.slice(-3)}`, `Editor ${isbn.slice(-2)}`],
    publisher: `Publisher ${isbn.slice(-1)}`,
  }).replace("<PublishingDetail>", `${TEXT}<PublishingDetail>`);

/** Records of whole messages, our own and those in the folder `ONIX_SAMPLES`, in turn. */
function full(): RecordOf {
  const samples = SAMPLES.flatMap(({ url }) =>
    [...Deno.readTextFileSync(url).matchAll(/<Product>[^]*?<\/Product>/g)]
      .filter(([record]) => isReadable(record))
      .map(([record]) => halvesOf(record)).filter((halves) => halves !== undefined)
  );
  return (isbn, edition) => {
    // Every edition of a book comes from the same sample.
    const [before, after] = samples[Number(isbn.slice(3, 12)) % samples.length]!;
    return `<Product><RecordReference>full.example.${isbn}</RecordReference>
<NotificationType>03</NotificationType>
<ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>${isbn}</IDValue></ProductIdentifier>
${before} ${edition}${after}`;
  };
}

/** Whether the record is well-formed without its message, which may define namespaces and entities. */
function isReadable(record: string): boolean {
  try {
    new SaxesParser({ xmlns: true }).write(record).close();
    return true;
  } catch {
    return false;
  }
}

/** What follows the identifiers, up to the end of the title and from there on. */
function halvesOf(record: string): [string, string] | undefined {
  const start = record.indexOf("<DescriptiveDetail>");
  const collections = record.lastIndexOf("</Collection>");
  const from = Math.max(start, collections);
  const end = /<\/(?:TitleText|TitleWithoutPrefix)>/.exec(record.slice(from));
  if (start < 0 || !end) return;
  const at = from + end.index;
  return [record.slice(start, at), record.slice(at)];
}

/** ISBNs that no earlier run has used on this database. */
let lastIsbn = 100_000_000 + Math.floor(Date.now() / 1_000) % 600_000 * 1_000;

/** Returns a function that makes messages of the same new books. */
function books(recordOf: RecordOf, count = COUNT) {
  const isbns = Array.from({ length: count }, () => isbnOf(++lastIsbn));
  return (edition: number) => message(...isbns.map((isbn) => recordOf(isbn, edition)));
}

/** Sends a message. Throws unless all records have this outcome. */
async function send(
  { origin, data: { small } }: Contestant,
  body: string,
  outcome: "created" | "updated" | "unchanged",
): Promise<Load> {
  const start = performance.now();
  const response = await fetch(`${origin}/api/onix/products`, {
    method: "POST",
    headers: { "x-api-key": small.key, "content-type": "application/xml" },
    body,
  });
  const { data, error } = await response.json();
  const seconds = (performance.now() - start) / 1_000;
  if (!data || data[outcome] !== data.records) {
    const answer = JSON.stringify(error ?? data).slice(0, 2_000);
    throw new Error(`Not all records are ${outcome}: ${answer}`);
  }
  return { count: data.records, rate: data.records / seconds };
}

function importsOf(kind: string, recordOf: RecordOf): Scenario[] {
  // By contestant: messages of the books that an edition has created.
  const created = new Map<string, (edition: number) => string>();
  async function warmUp(contestant: Contestant): Promise<void> {
    const messageOf = books(recordOf);
    created.set(contestant.name, messageOf);
    await send(contestant, messageOf(0), "created");
  }
  const messageOf = ({ name }: Contestant) => created.get(name)!;
  return [
    {
      name: `ONIX new, ${kind} records`,
      clients: 1,
      warmUp: (one) => send(one, books(recordOf, 200)(0), "created").then(() => {}),
      run: (one) => send(one, books(recordOf)(0), "created"),
    },
    {
      name: `ONIX changed, ${kind} records`,
      clients: 1,
      warmUp,
      run: (one, { round }) => send(one, messageOf(one)(round + 1), "updated"),
    },
    {
      name: `ONIX again, ${kind} records`,
      clients: 1,
      warmUp,
      run: (one) => send(one, messageOf(one)(0), "unchanged"),
    },
  ];
}

/** Reads the whole feed in messages of 1,000. */
const FEED: Scenario = {
  name: "ONIX feed, records",
  clients: 1,
  async run({ origin, data: { small } }) {
    const start = performance.now();
    let count = 0;
    for (let path = "/api/onix/products?limit=1000";;) {
      const response = await fetch(origin + path, {
        headers: { "x-api-key": small.key },
      });
      const text = await response.text();
      if (text.includes("<NoProduct")) break;
      count += text.split("</Product>").length - 1;
      path = /<([^>]+)>/.exec(response.headers.get("link")!)![1]!;
    }
    return { count, rate: count / (performance.now() - start) * 1_000 };
  },
};

/** Import, feed and GET in ONIX. */
export const ONIX: readonly Scenario[] = [
  ...importsOf("short", short),
  ...importsOf("full", full()),
  FEED,
  requests("ONIX GET of a record", 8, ({ large: { key }, products }) => ({
    method: "GET",
    path: "/onix/products/{1}",
    key,
    rows: products,
  })),
];
