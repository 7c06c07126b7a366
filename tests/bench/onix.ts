import { isbnOf, message, record } from "../support/data/onix.ts";
import type { Client } from "./dataset.ts";
import { median } from "./load.ts";
import { peakMemory } from "./processes.ts";
import { markdown } from "./report.ts";
import type { Subject } from "./subject.ts";

/** The records of the message, and the clients that get one at once. */
const RECORDS = 5_000;
const CLIENTS = 8;

/** The text of each record. */
const TEXT = "A description of the book, which goes on for a while. ".repeat(
  60,
);

/**
 * Measures ONIX over HTTP: the import of new, of changed and of unchanged records, the
 * feed, and the GET of one record beside that of its JSON.
 */
export async function measureOnix(
  { service, dataset: { small } }: Subject,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<string> {
  const origin = `${service.origin}/api`;
  const created = await importRate(origin, small, 0, "created");
  const unchanged: number[] = [];
  const changed: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    changed.push(await importRate(origin, small, round, "updated"));
    unchanged.push(await importRate(origin, small, round, "unchanged"));
  }
  const exported = await exportRate(origin, small);
  const ids = await idsOf(origin, small);
  const xml: number[] = [];
  const json: number[] = [];
  for (let round = 0; round < rounds; round++) {
    xml.push(await getRate(`${origin}/onix/products`, small, ids, seconds));
    json.push(await getRate(`${origin}/products`, small, ids, seconds));
  }
  const kilobytes = messageOf(0).length / RECORDS / 1_000;
  return markdown(
    [
      `ONIX, records of ${kilobytes.toFixed(1)} KB`,
      "value",
    ],
    1,
    [
      ["Import of new records", `${created.toFixed(0)} per second`],
      ["Import of changed records", `${median(changed).toFixed(0)} per second`],
      [
        "Import of unchanged records",
        `${median(unchanged).toFixed(0)} per second`,
      ],
      ["Feed, in messages of 1,000", `${exported.toFixed(0)} per second`],
      [
        "GET of one record / GET of its JSON",
        (median(xml) / median(json)).toFixed(2),
      ],
      [
        "Peak memory of the service",
        `${peakMemory(service.pid).toFixed(0)} MB`,
      ],
    ],
  );
}

/** A message whose records differ from edition to edition. */
function messageOf(edition: number): string {
  return message(...Array.from({ length: RECORDS }, (_, i) =>
    record({
      reference: `bench.example.${i}`,
      isbn: isbnOf(700_000_000 + i),
      title: `Book ${i}`,
      pages: 100 + edition,
      price: `${5 + edition}.99`,
      contributors: [`Author ${i % 500}`, `Editor ${i % 50}`],
      publisher: `Publisher ${i % 5}`,
      imprint: `Imprint ${i % 20}`,
    }).replace(
      "<PublishingDetail>",
      `<CollateralDetail><TextContent><TextType>03</TextType><ContentAudience>00</ContentAudience><Text>${TEXT}</Text></TextContent></CollateralDetail><PublishingDetail>`,
    )));
}

/** Imports the records of an edition. Throws unless all have this outcome. */
async function importRate(
  origin: string,
  { key }: Client,
  edition: number,
  expected: "created" | "updated" | "unchanged",
): Promise<number> {
  const body = messageOf(edition);
  const start = performance.now();
  const response = await fetch(`${origin}/onix/products`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/xml" },
    body,
  });
  const { data, error } = await response.json();
  const took = (performance.now() - start) / 1_000;
  if (data?.[expected] !== RECORDS) {
    throw new Error(`Not ${expected}: ${JSON.stringify(error ?? data)}`);
  }
  return RECORDS / took;
}

/** Reads the whole feed. */
async function exportRate(origin: string, { key }: Client): Promise<number> {
  const start = performance.now();
  let records = 0;
  for (let path = "/onix/products?limit=1000";;) {
    const response = await fetch(origin + path, {
      headers: { "x-api-key": key },
    });
    const text = await response.text();
    if (text.includes("<NoProduct")) break;
    records += text.split("</Product>").length - 1;
    const [, next] = /<\/api([^>]+)>/.exec(response.headers.get("link")!)!;
    path = next!;
  }
  return records / (performance.now() - start) * 1_000;
}

async function idsOf(origin: string, { key }: Client): Promise<string[]> {
  const response = await fetch(`${origin}/products?search=book&limit=100`, {
    headers: { "x-api-key": key },
  });
  const { data } = await response.json() as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

/** The responses per second to clients that get one product after the other. */
async function getRate(
  url: string,
  { key }: Client,
  ids: readonly string[],
  seconds: number,
): Promise<number> {
  const start = performance.now();
  let count = 0;
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    while (performance.now() < start + seconds * 1_000) {
      const id = ids[count++ % ids.length];
      const response = await fetch(`${url}/${id}`, {
        headers: { "x-api-key": key },
      });
      await response.body?.cancel();
    }
  }));
  return count / (performance.now() - start) * 1_000;
}
