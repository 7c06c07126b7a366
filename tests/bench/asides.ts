import { type Database, openDatabase } from "../../db/database.ts";
import { exportCatalogue } from "../../db/transfer/export.ts";
import { importCatalogue } from "../../db/transfer/import.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { type Rules, serving } from "./contest.ts";
import type { Organization } from "./dataset.ts";
import { startEmbedded } from "./embedded.ts";
import { median } from "./load.ts";
import { peakMemory } from "./processes.ts";
import { markdown, rateOver, type Result } from "./report.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import type { Service } from "./service.ts";
import { BARE } from "./start_bare.ts";
import type { Subject } from "./subject.ts";
import { type Requests, runWrk } from "./wrk.ts";

const CLIENTS = 30;

/** The figures besides rates: worst responses, memory, disk, feed, batches, export and import, and the embedded database. */
export async function measureAsides(
  {
    checkout,
    service,
    scenarios: { get, common, found, create },
    dataset,
    disc,
  }: Subject,
  results: Result[],
  rules: Rules,
): Promise<string> {
  const many = { ...get, clients: CLIENTS };
  const worst = await worstBeside(service, { many, heavy: common }, rules);
  const besideFound = await worstBeside(service, { many, heavy: found }, rules);
  const memory = peakMemory(service.pid);
  const feed = await measureFeed(service, create, rules);
  const batches = await batchRate(service, create, rules);
  await using embedded = await startEmbedded(checkout, get.clients);
  const contestant = serving(embedded.service, embedded.requests);
  // WebAssembly is optimized only after a while.
  await contestant.run(rules);
  const { rate } = await contestant.run(rules);
  const transfer = await measureTransfer(rules.cluster.url, dataset.small);
  const overBare = rateOver(results, get.name, [service.name, BARE]);
  return markdown(["figure", "value"], 1, [
    [`GET, ${service.name} / ${BARE}`, overBare.toFixed(2)],
    [`Worst GET of ${CLIENTS} clients`, milliseconds(worst.alone)],
    [`Worst GET during "${common.name}"`, milliseconds(worst.beside)],
    [`Worst GET during "${found.name}"`, milliseconds(besideFound.beside)],
    [
      `GET p99 during "${found.name}" of ${found.clients} clients / alone`,
      besideFound.p99.toFixed(2),
    ],
    [
      `Products by ${BATCH_CLIENTS} clients in batches of ${OPERATIONS}`,
      `${batches.toFixed(0)} per second`,
    ],
    [`Feed of changes, products in pages of ${PAGE}`, perSecond(feed.rate)],
    ["Feed of changes, slowest page", milliseconds(feed.worst)],
    ["Peak memory of the service", megabytes(memory)],
    ["Disk, all JSON stored, before writes", megabytes(disc)],
    ["Embedded, start with a new folder", seconds(embedded.newFolderMs)],
    ["Embedded, start with an existing folder", seconds(embedded.oldFolderMs)],
    ["Export, products", perSecond(transfer.exported)],
    ["Import, products", perSecond(transfer.imported)],
    [
      `Embedded, GET of ${get.clients} clients`,
      perSecond(rate),
    ],
  ]);
}

function perSecond(rate: number): string {
  return `${rate.toFixed(0)} per second`;
}

function milliseconds(ms: number): string {
  return `${ms.toFixed(0)} ms`;
}

function megabytes(mb: number): string {
  return `${mb.toFixed(0)} MB`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

export const BATCH_CLIENTS = 4;

export const OPERATIONS = 100;

/** Measures the products per second that concurrent clients create in batches: the median of the rounds. */
export async function batchRate(
  { origin }: Service,
  { path, body, client, numbers: [first, last] }: Scenario,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<number> {
  const rates: number[] = [];
  const operation = `{"method":"create","body":${body}}`;
  const batch = {
    method: "POST",
    path: `${path}/batch`,
    client,
    body: `{"operations":[${Array(OPERATIONS).fill(operation).join()}]}`,
  };
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    let created = 0;
    let number = first;
    await Promise.all(Array.from({ length: BATCH_CLIENTS }, async () => {
      while (performance.now() < start + seconds * 1000) {
        if (++number > last) number = first;
        const { data } = await send(batch, origin, number);
        created += data.filter(({ status }: { status: number }) =>
          status === 201
        ).length;
      }
    }));
    rates.push(created / (performance.now() - start) * 1000);
  }
  return median(rates);
}

export const PAGE = 1_000;

/** The results of one client that reads the whole feed. */
export interface Feed {
  /** Products per second. */
  rate: number;
  /** The slowest page, in milliseconds. */
  worst: number;
}

/** Reads the feed from its start, and returns the medians of the rounds. */
export async function measureFeed(
  { origin }: Service,
  { path, client }: Scenario,
  { rounds }: { rounds: number },
): Promise<Feed> {
  const rates: number[] = [];
  const worst: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const pages: number[] = [];
    let products = 0;
    let after = "";
    for (let more = true; more;) {
      const feed = `${path}/changes?limit=${PAGE}${after}`;
      const start = performance.now();
      const { data, meta } = await send(
        { method: "GET", path: feed, client },
        origin,
        0,
      );
      pages.push(performance.now() - start);
      products += data.length;
      after = `&after=${meta.cursor}`;
      more = meta.more;
    }
    rates.push(products / sum(pages) * 1000);
    worst.push(Math.max(...pages));
  }
  return { rate: median(rates), worst: median(worst) };
}

function sum(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** The products per second of an export, and of an import into a new organization. */
export async function measureTransfer(
  url: string,
  { id, products }: Organization,
): Promise<{ exported: number; imported: number }> {
  const database = await openDatabase({
    url,
    poolSize: 1,
    statementTimeoutMs: 60_000,
    prepare: true,
  });
  try {
    const lines: string[] = [];
    const exportSeconds = await secondsOf(() =>
      exportCatalogue(operationsOf(database, id), {
        write: (text) => Promise.resolve(void lines.push(text)),
      })
    );
    const file = new Blob(lines).stream();
    const importSeconds = await secondsOf(() =>
      importCatalogue(operationsOf(database, uuidv7()), file, {
        refused(number, reason) {
          throw new Error(`Line ${number}: ${reason}`);
        },
        progress() {},
      })
    );
    return {
      exported: products / exportSeconds,
      imported: products / importSeconds,
    };
  } finally {
    await database.close();
  }
}

function operationsOf(database: Database, organizationId: string) {
  return database.for({
    deadline: performance.now() + 3_600_000,
    caller: { organizationId, name: "benchmark" },
  });
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Milliseconds, without and with heavy requests. */
export interface Worst {
  alone: number;
  beside: number;
  /** The ratio of the 99th percentiles, with and without. */
  p99: number;
}

/** The median of many clients' slowest responses, alone and while others send heavy requests. */
export async function worstBeside(
  { origin }: Service,
  { many, heavy }: { many: Requests; heavy: Requests },
  { rounds, seconds, seed }: { rounds: number; seconds: number; seed: number },
): Promise<Worst> {
  const worst = {
    alone: [] as number[],
    beside: [] as number[],
    p99: [] as number[],
  };
  for (let round = 0; round < rounds; round++) {
    const how = { origin, seconds, seed: seed + round };
    const alone = await runWrk(many, how);
    const [beside] = await Promise.all([runWrk(many, how), runWrk(heavy, how)]);
    worst.alone.push(alone.max);
    worst.beside.push(beside.max);
    worst.p99.push(beside.p99 / alone.p99);
  }
  return {
    alone: median(worst.alone),
    beside: median(worst.beside),
    p99: median(worst.p99),
  };
}
