import { assert, assertEquals } from "@std/assert";
import { bound, type BoundReader, settledFor } from "../support/app/bound.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

/*
 * Random writes, deletions, restorations, undos, edits of the view and of programs against a model of
 * the view, with three copies that follow: two in JSON, one in ONIX. Each copy becomes the view:
 * nothing is lost, no ghost stays, and what left is reported once.
 */

const it = testsOf("The feed of a recipient");

const WRITES = Number(Deno.env.get("WRITES") ?? 120);

/** A number generator whose seed the test prints: Mulberry32. */
function random(seed: number): () => number {
  return () => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  };
}

/** A copy that follows a feed of the recipient. */
abstract class Follower {
  readonly products = new Set<string>();
  readonly reader: BoundReader;
  /**
   * The products that were in the view when it was checked: a copy in the middle of its pages may hear
   * of one of these that it had not come to.
   */
  readonly told: Set<string>;
  departures = 0;

  constructor(reader: BoundReader, told: Set<string>) {
    this.reader = reader;
    this.told = told;
  }

  /** Reads one page. Returns whether more follow. */
  abstract read(): Promise<boolean>;

  async catchUp(app: App): Promise<void> {
    await settledFor(this.reader, app);
    while (await this.read());
  }

  protected take(id: string, isDeleted: boolean): void {
    if (!isDeleted) {
      this.products.add(id);
      this.told.add(id);
      return;
    }
    assert(this.told.has(id), `${id} was never in the view, and is reported as deleted`);
    if (this.products.delete(id)) this.departures++;
  }
}

class JsonFollower extends Follower {
  #cursor = "";

  async read(): Promise<boolean> {
    const { status, body, text } = await this.reader.get(
      `/api/products/changes?limit=7${this.#cursor}`,
    );
    assertEquals(status, 200, text);
    for (const { id, deleted } of body.data) this.take(id, deleted);
    this.#cursor = `&after=${body.meta.cursor}`;
    return body.meta.more;
  }
}

class OnixFollower extends Follower {
  #next = "/api/onix/products?limit=5";
  #empty = 0;

  async read(): Promise<boolean> {
    const { status, text, headers } = await this.reader.get(this.#next);
    assertEquals(status, 200, text);
    const records = text.match(/<Product>.*?<\/Product>/gs) ?? [];
    for (const record of records) {
      const [, id] = /<RecordReference>urn:uuid:(.*?)</.exec(record)!;
      this.take(id!, /<NotificationType>05</.test(record));
    }
    this.#next = /<(.*?)>; rel="next"/.exec(headers.get("link")!)![1]!;
    // A page whose changes are all hidden again has no records, and may have others behind it.
    this.#empty = records.length > 0 ? 0 : this.#empty + 1;
    if (this.#empty < 3) return true;
    this.#empty = 0;
    return false;
  }
}

interface Modelled {
  id: string;
  imprint: string | null;
  status: string;
  /** On which day it is announced to the trade. */
  announced: string | null;
  isInProgram: boolean;
}

interface Criteria {
  imprint_id?: string[];
  publishing_status_code?: string[];
  program_id?: string[];
  announced?: string;
}

function meets(product: Modelled, criteria: Criteria): boolean {
  const today = new Date().toISOString().slice(0, 10);
  const { imprint_id, publishing_status_code, program_id, announced } = criteria;
  return (!imprint_id || imprint_id.includes(product.imprint!)) &&
    (!publishing_status_code || publishing_status_code.includes(product.status)) &&
    (!program_id || product.isInProgram) &&
    (!announced || product.announced === null || product.announced <= today);
}

async function followed(app: App, org: Organization, seed: number): Promise<void> {
  const next = random(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)]!;
  const chance = (share: number) => next() < share;
  const { body } = await org.post("/api/imprints", { name: "Another" });
  const imprints = [org.imprint, body.data.id as string, null];
  const statuses = ["02", "04", "07"];
  const inDays = (days: number) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const days = [null, inDays(-9), inDays(9)];
  const criteria = (): Criteria => ({
    ...chance(0.5) && { imprint_id: [imprints[chance(0.5) ? 0 : 1] as string] },
    ...chance(0.5) && { publishing_status_code: ["04", "07"] },
    ...chance(0.3) && { program_id: [org.program] },
    ...chance(0.3) && { announced: "trade" },
  });
  let view: { selection: Criteria; except: Criteria | null } = {
    selection: { imprint_id: [org.imprint] },
    except: null,
  };
  const reader = await bound(app, org, view);
  const quiet = await bound(app, org, { name: "Quiet", selection: { imprint_id: [org.imprint] } });
  const told = new Set<string>();
  const followers = [
    new JsonFollower(reader, told),
    new JsonFollower(reader, told),
    new OnixFollower(reader, told),
  ];
  const others = new JsonFollower(quiet, new Set());
  const products = new Map<string, Modelled>();
  const deleted = new Map<string, Modelled>();
  const isSeen = (product: Modelled) =>
    meets(product, view.selection) &&
    !(view.except && Object.keys(view.except).length > 0 && meets(product, view.except));

  const bodyOf = ({ imprint, status, announced }: Omit<Modelled, "id" | "isInProgram">) => ({
    imprint_id: imprint,
    publishing_status_code: status,
    publishing_dates: announced ? [{ publishing_date_role: "10", date: announced }] : [],
  });
  const anyState = () => ({
    imprint: pick(imprints),
    status: pick(statuses),
    announced: pick(days),
  });

  const steps: Record<string, () => Promise<void>> = {
    async create() {
      const state = anyState();
      const { id } = await org.create({ title: "A book", ...bodyOf(state) });
      products.set(id, { id, ...state, isInProgram: false });
    },
    async update() {
      const product = pick([...products.values()]);
      if (!product) return;
      const state = anyState();
      const { status, text } = await org.put(`/api/products/${product.id}`, bodyOf(state));
      assertEquals(status, 200, text);
      Object.assign(product, state);
    },
    async undo() {
      const product = pick([...products.values()]);
      if (!product) return;
      const state = anyState();
      const { status, headers } = await org.put(`/api/products/${product.id}`, bodyOf(state));
      assertEquals(status, 200);
      const request_id = headers.get("x-request-id");
      const undone = await org.post("/api/history/undo", { request_id });
      assertEquals(undone.status, 200, undone.text);
    },
    async remove() {
      const product = pick([...products.values()].filter(({ isInProgram }) => !isInProgram));
      if (!product) return;
      const { body } = await org.delete(`/api/products/${product.id}`);
      assertEquals(body.data?.deleted, true);
      products.delete(product.id);
      deleted.set(product.id, product);
    },
    async restore() {
      const product = pick([...deleted.values()]);
      if (!product) return;
      const { status, text } = await org.post(`/api/products/${product.id}/restore`, {});
      assertEquals(status, 200, text);
      deleted.delete(product.id);
      products.set(product.id, product);
    },
    async program() {
      const product = pick([...products.values()]);
      if (!product) return;
      const path = `/api/publishing-programs/${org.program}/products/${product.id}`;
      const { status } = product.isInProgram ? await org.delete(path) : await org.put(path, {});
      assertEquals(status, 204);
      product.isInProgram = !product.isInProgram;
    },
    async programBySql() {
      // Only the service writes a distributed database.
      if (app.isDistributed) return await steps.program!();
      const product = pick([...products.values()]);
      if (!product) return;
      if (product.isInProgram) {
        await app
          .sql`delete from publishing_program_products where organization_id = ${org.id} and product_id = ${product.id}`;
      } else {
        await app
          .sql`insert into publishing_program_products (organization_id, program_id, product_id) values (${org.id}, ${org.program}, ${product.id})`;
      }
      product.isInProgram = !product.isInProgram;
    },
    async edit() {
      view = { selection: criteria(), except: chance(0.3) ? criteria() : null };
      const { status, text, body } = await org.put(`/api/recipients/${reader.id}`, view);
      assertEquals(status, 200, text);
      assertEquals(body.data.products, [...products.values()].filter(isSeen).length);
    },
    async leaveOut() {
      const leave_out = chance(0.5) ? ["season", "Stock"] : [];
      const { status } = await org.put(`/api/recipients/${reader.id}`, { leave_out });
      assertEquals(status, 200);
    },
    // The feed takes the day on which it checked products for yesterday.
    async midnight() {
      await app
        .sql`update recipient_fetches set judged_on = judged_on - 1 where organization_id = ${org.id}`;
    },
    async read() {
      await pick(followers).read();
    },
    async catchUp() {
      const follower = pick(followers);
      await follower.catchUp(app);
      assertEquals([...follower.products].sort(), seen(), `seed ${seed}`);
    },
    async quiet() {
      await others.catchUp(app);
      const expected = [...products.values()].filter(({ imprint }) => imprint === org.imprint);
      assertEquals(
        [...others.products].sort(),
        expected.map(({ id }) => id).sort(),
        `seed ${seed}`,
      );
    },
  };
  const seen = () => [...products.values()].filter(isSeen).map(({ id }) => id).sort();
  const often = ["create", "update", "update", "update", "read", "read"];
  const all = [...Object.keys(steps), ...often];
  for (let i = 0; i < WRITES; i++) {
    await steps[pick(all)]!();
    for (const id of seen()) told.add(id);
  }

  for (const follower of followers) {
    await follower.catchUp(app);
    assertEquals([...follower.products].sort(), seen(), `seed ${seed}`);
    const { departures } = follower;
    await follower.catchUp(app);
    assertEquals(follower.departures, departures);
  }
  await steps.quiet!();
}

it("makes copies the view, whatever happens", async ({ org, app }) => {
  const seed = Number(Deno.env.get("SEED") ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`SEED=${seed}`);
  await followed(app, org, seed);
});
