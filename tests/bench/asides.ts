import { BATCH_CLIENTS, batchRate, OPERATIONS } from "./batches.ts";
import type { Rules } from "./contest.ts";
import { serving } from "./contestants.ts";
import { startEmbedded } from "./embedded.ts";
import { measureFeed, PAGE } from "./feed.ts";
import { peakMemory } from "./processes.ts";
import { markdown, rateOver, type Result } from "./report.ts";
import { BARE } from "./start_bare.ts";
import type { Subject } from "./subject.ts";
import { measureTransfer } from "./transfer.ts";
import { worstBeside } from "./worst.ts";

const CLIENTS = 30;

/** What no rate shows: the worst answers, memory, disc, feed, batches, export and import, and the embedded database. */
export async function measureAsides(
  { checkout, service, scenarios: { get, common, create }, dataset, disc }:
    Subject,
  results: Result[],
  rules: Rules,
): Promise<string> {
  const many = { ...get, clients: CLIENTS };
  const worst = await worstBeside(service, { many, heavy: common }, rules);
  const memory = peakMemory(service.pid);
  const feed = await measureFeed(service, create, rules);
  const batches = await batchRate(service, create, rules);
  await using embedded = await startEmbedded(checkout, get.clients);
  const contestant = serving(embedded.service, embedded.requests);
  // The WebAssembly gets its optimized code only after a while.
  await contestant.run(rules);
  const { rate } = await contestant.run(rules);
  const transfer = await measureTransfer(rules.cluster.url, dataset.small);
  const overBare = rateOver(results, get.name, [service.name, BARE]);
  return markdown(["what", "figure"], 1, [
    [`GET, ${service.name} / ${BARE}`, overBare.toFixed(2)],
    [`Worst GET of ${CLIENTS} clients`, milliseconds(worst.alone)],
    [`Worst GET beside "${common.name}"`, milliseconds(worst.beside)],
    [
      `Products by ${BATCH_CLIENTS} clients in batches of ${OPERATIONS}`,
      `${batches.toFixed(0)} per second`,
    ],
    [`Feed of changes, products by pages of ${PAGE}`, perSecond(feed.rate)],
    ["Feed of changes, slowest page", milliseconds(feed.worst)],
    ["Memory of the service at most", megabytes(memory)],
    ["Disc, all answers stored, before writes", megabytes(disc)],
    ["Embedded, start with a new folder", seconds(embedded.newFolderMs)],
    ["Embedded, start with its folder", seconds(embedded.oldFolderMs)],
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
