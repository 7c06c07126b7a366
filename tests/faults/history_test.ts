import { assert, assertEquals } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { type App, openApp, SETTINGS } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { eventually } from "../support/app/eventually.ts";
import type { Reply } from "../support/client/envelope.ts";
import { binary } from "../support/servers/cluster.ts";
import { restarts } from "./restarts.ts";
import { faultTest } from "./scene.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** What a write makes of its product: the event of its version, and the title, or null for a deletion. */
interface Written {
  event: string;
  title: string | null;
  /** Without a response, it may be stored or not. */
  isAcknowledged: boolean;
}

/** `deno task test FILE -- 30` stops something thirty times. */
const [STOPS = 3] = Deno.args.map(Number);

const CLIENTS = 6;

faultTest(
  "The history has all acknowledged writes, each once, whatever is stopped",
  async (scene) => {
    const { cluster, observer } = scene;
    await using service = restarts(scene);
    await service.start();
    const org = await service.app.organization();
    const old = await oldVersions(await service.app.organization());
    let isOver = false;

    /** Sends the request until it is answered, whatever is stopped meanwhile. */
    async function answered(request: () => Promise<Reply>): Promise<Reply> {
      for (;;) {
        const reply = await request().catch(() => undefined);
        if (reply && reply.status < 500) return reply;
        await pause(50);
      }
    }

    async function client(name: number): Promise<[string, Written[]]> {
      const { body } = await answered(() => org.post("/api/products", { title: `${name}` }));
      const { id } = body.data;
      const path = `/api/products/${id}`;
      const all: Written[] = [
        { event: "created", title: `${name}`, isAcknowledged: true },
      ];
      for (let n = 1; !isOver; n++) {
        const { body } = await answered(() => org.get(path));
        const title: string | undefined = body.data?.title;
        const mark = `${name}-${n}`;
        const prices = [{ currency_code: "EUR", retail_price: n }];
        const write = async (
          made: Omit<Written, "isAcknowledged">,
          request: () => Promise<Reply>,
        ) => {
          const one = { ...made, isAcknowledged: false };
          all.push(one);
          const reply = await request().catch(() => undefined);
          if (!reply || reply.status >= 500) return;
          const results = Array.isArray(reply.body.data) ? reply.body.data : [reply];
          assertEquals(results[0].status, 200, reply.text);
          one.isAcknowledged = true;
        };
        if (title === undefined) {
          await write(
            { event: "restored", title: await titleBefore(id) },
            () => org.post(`${path}/restore`, {}),
          );
        } else if (n % 7 === 0) {
          await write(
            { event: "deleted", title: null },
            () => org.batch([{ method: "delete", id }]),
          );
        } else if (n % 5 === 0) {
          const { body } = await answered(() => org.get(`${path}/history?limit=3`));
          const { version } = body.data.at(-1);
          const past = await answered(() => org.get(`${path}?version=${version}`));
          if (past.status !== 200 || past.body.data.title === title) continue;
          await write(
            { event: "restored", title: past.body.data.title },
            () => org.post(`${path}/restore`, { version }),
          );
        } else if (n % 2 === 0) {
          const operation = {
            method: "update",
            id,
            body: { title: mark, product_prices: prices },
          };
          await write(
            { event: "changed", title: mark },
            () => org.batch([operation]),
          );
        } else {
          await write(
            { event: "changed", title: mark },
            () => org.put(path, { title: mark, product_prices: prices }),
          );
        }
      }
      return [id, all];
    }

    /** The title of a product before it was deleted. */
    async function titleBefore(id: string): Promise<string> {
      const { body } = await answered(() => org.get("/api/products/deleted?limit=100"));
      return body.data.find((one: Any) => one.id === id)!.title;
    }

    const clients = Promise.all(
      Array.from({ length: CLIENTS }, (_, name) => client(name)),
    );
    clients.catch(() => isOver = true);
    for (let stops = 0; stops < STOPS && !isOver; stops++) {
      // Versions that are due are deleted every five seconds.
      await pause(Math.random() * 7_000);
      if (stops % 3 === 2) {
        await cluster.stop("immediate");
        await cluster.start();
      } else if (stops % 3 === 1) await scene.killSessions(100);
      else {
        await service.kill();
        await service.start();
      }
    }
    isOver = true;
    await eventually(
      200,
      async () => (await service.app.send("/health/ready")).status,
    );
    for (const [id, written] of await clients) {
      assertWritten(await statesOf(org, id), written);
    }
    // The last of the old ones was shown until a product was created, today.
    await eventually([{ versions: 100 }], async () => [
      ...await observer`
        select count(*)::int as versions from product_documents where organization_id = ${old.id}
      `,
    ]);
    for (const id of old.ids) {
      assertEquals((await statesOf(old, id)).length, 2);
    }
    await scene.assertSound();

    /** An organization whose products have versions that are due. */
    async function oldVersions(org: Organization) {
      const ids: string[] = [];
      for (let n = 0; n < 50; n++) ids.push((await org.create()).id);
      await observer`
        insert into product_documents (
          organization_id, product_id, change_version, names_version, changed_at, event, summary, details
        )
        select
          d.organization_id, d.product_id, d.change_version - n, 0, d.changed_at - make_interval(days => 100, secs => n),
          'changed', d.summary, d.details
        from product_documents d
        cross join generate_series(1, 400) n
        where d.organization_id = ${org.id}
      `;
      return { ...org, ids };
    }
  },
);

faultTest("The history is in a dump", async ({ app, cluster, observer }) => {
  const org = await app.organization();
  const { id, path } = await org.create({ title: "A" });
  await org.put(path, { title: "B" });
  await observer`update products set title = 'By SQL' where id = ${id}`;
  const { id: gone, path: former } = await org.create({ title: "Gone" });
  await org.delete(former);
  const paths = [
    `${path}/history`,
    `${former}/history`,
    "/api/products/deleted",
    "/api/history",
    `${path}?at=2099-01-01`,
  ];
  const shownBy = async (app: Pick<App, "send">) => {
    const all: Any[] = [];
    for (const path of paths) {
      const { body } = await app.send(path, {
        headers: { "x-api-key": org.key },
      });
      all.push(body.data);
    }
    return all;
  };
  const before = await shownBy(app);

  await observer`create database restored`;
  const url = new URL(cluster.url);
  url.pathname = "/restored";
  const { success, stderr } = await new Deno.Command("sh", {
    args: [
      "-c",
      '"$0" "$2" | "$1" -q -v ON_ERROR_STOP=1 "$3"',
      ...[binary("pg_dump"), binary("psql"), cluster.url, url.href],
    ],
    stdout: "null",
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  await using restored = await openApp({}, { ...SETTINGS, url: url.href });

  assertEquals(await shownBy(restored), before);
  const call = (method: string, path: string, body: object) =>
    restored.send(path, {
      method,
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await call("PUT", path, { title: "C" });
  const [history] = await shownBy(restored);
  assertEquals(history.slice(1), before[0]);
  assertEquals(history[0].changes[0].from, "By SQL");
  const { version } = before[0].at(-1);
  const { body } = await call("POST", `${path}/restore`, { version });
  assertEquals(body.data.product.title, "A");
  const back = await call("POST", `${former}/restore`, {});
  assertEquals([back.status, back.body.data.product.id], [200, gone]);
});

/** The versions of a product, the oldest first: what was shown of it, and what is shown now. */
async function statesOf(
  org: Organization,
  id: string,
): Promise<{ event: string; title: string | null }[]> {
  const path = `/api/products/${id}`;
  const entries: Any[] = [];
  let after = "";
  for (let more = true; more;) {
    const { body } = await org.get(`${path}/history?limit=100${after}`);
    entries.push(...body.data);
    more = body.meta.more;
    after = `&after=${body.meta.cursor}`;
  }
  const versions = entries.map(({ version }) => version);
  assertEquals(new Set(versions).size, versions.length);
  const states = [];
  for (const { version, event, at } of entries.toReversed()) {
    const { status, body } = await org.get(`${path}?version=${version}`);
    assertEquals(status, event === "deleted" ? 404 : 200);
    assertEquals(
      (await org.get(`${path}?at=${at}`)).body.data?.title,
      body.data?.title,
    );
    states.push({ event, title: body.data?.title ?? null });
  }
  const { body } = await org.get(path);
  const last = await org.get(`${path}?version=${versions[0]}`);
  assertEquals(body.data, last.body.data);
  return states;
}

/**
 * Expects each version to be of a write, in their order, and every acknowledged write to have
 * one. A write without a response may have none.
 */
function assertWritten(
  states: readonly Omit<Written, "isAcknowledged">[],
  written: readonly Written[],
): void {
  /** The numbers of versions that the writes so far may have made. */
  let made = new Set([0]);
  for (const { event, title, isAcknowledged } of written) {
    const next = new Set(isAcknowledged ? [] : made);
    for (const versions of made) {
      const state = states[versions];
      if (state?.event === event && state.title === title) {
        next.add(versions + 1);
      }
    }
    assert(next.size > 0, `${event} ${title} is lost, or in another order`);
    made = next;
  }
  assert(
    made.has(states.length),
    `${states.length} versions, not ${[...made]}`,
  );
}
