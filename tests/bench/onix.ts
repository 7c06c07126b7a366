import type { Client } from "./dataset.ts";
import { median } from "./load.ts";
import { fullRecords, type Records, SHORT } from "./onix_records.ts";
import { peakMemory } from "./processes.ts";
import { showProgress } from "./progress.ts";
import { markdown } from "./report.ts";
import type { Subject } from "./subject.ts";

/** The clients that get one record at once. */
const CLIENTS = 8;

/** The figures of each subject, one a round, by what was measured. */
type Figures = Map<string, number[][]>;

/**
 * Measures ONIX over HTTP: the import of new, of changed and of unchanged records, the
 * feed, and the GET of one record beside that of its JSON. Subjects take turns. A second
 * one adds the median ratio of the first to it.
 */
export async function measureOnix(
  subjects: readonly Subject[],
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<string> {
  const figures: Figures = new Map();
  const all = [SHORT, await fullRecords()];
  for (const records of all) {
    await measureRecords(subjects, records, rounds, figures);
  }
  const name = "GET of one record / GET of its JSON";
  for (let round = 0; round < rounds; round++) {
    await inTurn(
      subjects,
      figures,
      name,
      ({ origin, client }) => getRatio(origin, client, seconds),
    );
  }
  const rows = [...figures].map(([name, measured]) => {
    const digits = name === "GET of one record / GET of its JSON" ? 2 : 0;
    return [
      name,
      ...measured.map((one) => median(one).toFixed(digits)),
      ...ratioOf(measured),
    ];
  });
  const peaks = subjects.map(({ service }) => [peakMemory(service.pid)]);
  rows.push([
    "Peak memory of the service, MB",
    ...peaks.map(([peak]) => peak!.toFixed(0)),
    ...ratioOf(peaks),
  ]);
  return markdown(
    [
      "ONIX, records per second",
      ...subjects.map(({ checkout }) => checkout.name),
      ...subjects.length > 1 ? ["ratio"] : [],
    ],
    1,
    rows,
  );
}

/** The median ratio of the first subject's figures to the second one's. */
function ratioOf([first, second]: readonly number[][]): string[] {
  if (!first || !second) return [];
  return [median(first.map((figure, i) => figure / second[i]!)).toFixed(2)];
}

async function measureRecords(
  subjects: readonly Subject[],
  records: Records,
  rounds: number,
  figures: Figures,
): Promise<void> {
  const first = records.messageOf(0);
  const kilobytes = first.length / records.count / 1_000;
  const what = `${records.name} of ${kilobytes.toFixed(1)} KB`;
  const importing = (outcome: string, edition: number) =>
    inTurn(
      subjects,
      figures,
      `${what}: import, ${outcome}`,
      ({ origin, client }) =>
        importRate(origin, client, records, edition, outcome),
    );
  const ends = await Promise.all(subjects.map(async (subject) => {
    const { origin, client } = servedBy(subject);
    return (await readFeed(origin, client, FEED)).next;
  }));
  await importing("created", 0);
  for (let round = 1; round <= rounds; round++) {
    showProgress(what, round - 1, rounds);
    await importing("updated", round);
    await importing("unchanged", round);
    await inTurn(
      subjects,
      figures,
      `${what}: feed, in messages of 1,000`,
      ({ origin, client, i }) => feedRate(origin, client, ends[i]!),
    );
  }
  showProgress(what, 1, 1);
}

/** What a subject is measured with. */
interface Served {
  origin: string;
  client: Client;
  i: number;
}

function servedBy({ service, dataset }: Subject, i = 0): Served {
  return { origin: `${service.origin}/api`, client: dataset.small, i };
}

/** Adds a figure of each subject. */
async function inTurn(
  subjects: readonly Subject[],
  figures: Figures,
  name: string,
  measure: (subject: Served) => Promise<number>,
): Promise<void> {
  const measured = figures.get(name) ?? subjects.map(() => []);
  figures.set(name, measured);
  for (const [i, subject] of subjects.entries()) {
    measured[i]!.push(await measure(servedBy(subject, i)));
  }
}

/** Imports the records of an edition. Throws unless all have this outcome. */
async function importRate(
  origin: string,
  { key }: Client,
  { count, messageOf }: Records,
  edition: number,
  outcome: string,
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
  if (data?.[outcome] !== count) {
    const said = JSON.stringify(error ?? { ...data, outcomes: undefined });
    throw new Error(`Not ${outcome}: ${said}`);
  }
  return count / took;
}

/** The whole feed. */
const FEED = "/onix/products?limit=1000";

async function feedRate(
  origin: string,
  client: Client,
  path: string,
): Promise<number> {
  const start = performance.now();
  const { records } = await readFeed(origin, client, path);
  return records / (performance.now() - start) * 1_000;
}

/** Reads the feed from a path on. */
async function readFeed(
  origin: string,
  { key }: Client,
  path: string,
): Promise<{ records: number; next: string }> {
  let records = 0;
  for (let next = path;;) {
    const response = await fetch(origin + next, {
      headers: { "x-api-key": key },
    });
    const text = await response.text();
    if (text.includes("<NoProduct")) return { records, next };
    records += text.split("</Product>").length - 1;
    next = /<\/api([^>]+)>/.exec(response.headers.get("link")!)![1]!;
  }
}

/** The rate of GETs of one record divided by that of its JSON. */
async function getRatio(
  origin: string,
  client: Client,
  seconds: number,
): Promise<number> {
  const ids = await idsOf(origin, client);
  const xml = await getRate(`${origin}/onix/products`, client, ids, seconds);
  return xml / await getRate(`${origin}/products`, client, ids, seconds);
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
