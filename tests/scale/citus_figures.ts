import { type App, openApp } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { fullBody } from "../support/data/bodies.ts";
import { message, record } from "../support/data/onix.ts";

/* What the same requests cost a plain and a distributed database, in turns. */

/** The requests at once, and the seconds of a turn. */
const CLIENTS = 8;
const SECONDS = 3;
const TURNS = 2;

interface Place {
  app: App;
  org: Organization;
  body: object;
  ids: string[];
}

type Work = (place: Place, n: number) => Promise<{ status: number }>;

const title = (n: number) => ({ title: `Emma ${n}` });
const pathOf = ({ ids }: Place, n: number) => `/api/products/${ids[n % ids.length]}`;
const creations = (body: object) => Array(100).fill({ method: "create", body });

const WORK: Record<string, Work> = {
  get: (place, n) => place.org.get(pathOf(place, n)),
  list: ({ org }) => org.get("/api/products?limit=50"),
  feed: ({ org }) => org.get("/api/products/changes?limit=100"),
  create: ({ org, body }) => org.post("/api/products", body),
  "create with a key": ({ org, body }) =>
    org.post("/api/products", body, { "idempotency-key": crypto.randomUUID() }),
  put: (place, n) => place.org.put(pathOf(place, n), title(n)),
  "batch of 100": ({ org, body }) => org.batch(creations(body)),
  "ONIX import of 50": ({ app, org }, n) => app.send("/api/onix/products", onix(org, n)),
  restore: async (place, n) => {
    const path = pathOf(place, n);
    const { body } = await place.org.get(`${path}/history?limit=2`);
    return await place.org.post(`${path}/restore`, { version: body.data.at(-1).version });
  },
};

function onix({ key }: Organization, n: number): RequestInit {
  const records = Array.from(
    { length: 50 },
    (_, i) =>
      record({
        reference: `press.${n}.${i}.${crypto.randomUUID()}`,
        isbn: null,
        title: `Emma ${i}`,
      }),
  );
  return {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/xml" },
    body: message(...records),
  };
}

async function open(url: string): Promise<Place> {
  const app = await openApp({}, { url });
  const org = await app.organization();
  const body = await fullBody(app, org);
  const ids: string[] = [];
  for (let i = 0; i < 200; i++) ids.push((await org.create(body)).id);
  return { app, org, body, ids };
}

/** How often the work is done in a second. */
async function rate(place: Place, work: Work): Promise<number> {
  let done = 0;
  const start = performance.now();
  await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
    for (let n = client; performance.now() - start < SECONDS * 1_000; n += CLIENTS) {
      const { status } = await work(place, n);
      if (status < 300) done++;
    }
  }));
  return done / ((performance.now() - start) / 1_000);
}

/** A table of requests per second in each database, the better of the turns, and their ratio. */
export async function compare(plain: string, distributed: string): Promise<string> {
  const places = [await open(plain), await open(distributed)];
  const rows = ["| Per second | Plain | Distributed | Ratio |", "| --- | ---: | ---: | ---: |"];
  for (const [name, work] of Object.entries(WORK)) {
    const best = [0, 0];
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [i, place] of places.entries()) {
        best[i] = Math.max(best[i]!, await rate(place, work));
      }
    }
    const [one, other] = best as [number, number];
    const ratio = (other / one).toFixed(2);
    rows.push(`| ${name} | ${one.toFixed(1)} | ${other.toFixed(1)} | ${ratio} |`);
    console.error(rows.at(-1));
  }
  for (const { app } of places) await app[Symbol.asyncDispose]();
  return rows.join("\n");
}
