import { assertEquals } from "@std/assert";
import { recount } from "../../db/commands/recount.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { COUNTED, type Values, valuesOf } from "../support/data/filters.ts";
import { testsOf } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { assertTotals } from "../support/client/totals.ts";
import { TIMED } from "../support/app/deadline.ts";

const it = testsOf("The totals of lists");

it("are exact after writes of every kind", async ({ app }) => {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0]!;
  const random = randomBy(seed);
  const org = await app.organization();
  const values = await valuesOf(app, org);
  const paths: string[] = [];

  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 15; i++) await writeSomething();

    await assertTotals(app, org, values, `seed ${seed}`);
  }

  async function writeSomething(): Promise<void> {
    const at = Math.floor(random() * paths.length);
    const path = paths[at];
    const body = { title: "Emma", ...someValues(values, random) };
    const kind = path ? random() : 0;
    if (kind < 0.4) paths.push((await org.create(body)).path);
    else if (kind < 0.75) await org.put(path!, body);
    else if (kind < 0.85) {
      paths.splice(at, 1);
      await org.delete(path!);
    } else {
      const refused = { ...body, license_id: uuidv7() };
      const replies = [
        await org.post("/api/products", refused),
        await org.put(path!, refused),
      ];
      assertEquals(replies.map(({ status }) => status), [400, 400]);
    }
  }
});

it("are exact for several values of a filter", async ({ org, app }) => {
  const { format_id: [one, other] } = await valuesOf(app, org);
  for (const format_id of [one, one, one, other]) {
    await org.create({ format_id });
  }

  const { body } = await org.get(
    `/api/products?format_id=${one},${other}&limit=1`,
  );

  assertEquals(body.meta.total, 4);
});

it("are exact after many concurrent writers", async ({ app }) => {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0]!;
  const random = randomBy(seed);
  const org = await app.organization();
  const values = await valuesOf(app, org);
  const shared = await org.create();

  await Promise.all(Array.from({ length: 16 }, async () => {
    const { path } = await org.create(someValues(values, random));
    for (let i = 0; i < 4; i++) {
      await org.put(path, someValues(values, random));
      await org.put(shared.path, someValues(values, random));
    }
    if (random() < 0.5) await org.delete(path);
  }));

  await assertTotals(app, org, values, `seed ${seed}`);
});

it("are exact when many requests delete one product", async ({ org, app }) => {
  const values = await valuesOf(app, org);
  const { path } = await org.create({ format_id: org.format });

  const replies = await Promise.all(
    Array.from(
      { length: 8 },
      (_, i) =>
        i % 2
          ? org.put(path, { format_id: i > 4 ? null : values.format_id[1] })
          : org.delete(path),
    ),
  );

  const deleted = replies.filter(({ body }) => body.data?.deleted === true);
  assertEquals(deleted.length, 1);
  await assertTotals(app, org, values);
});

it("are not written if they do not change", async ({ org, app, sql }) => {
  const values = await valuesOf(app, org);
  const fields = {
    format_id: values.format_id[0],
    publishing_status_id: values.publishing_status_id[0],
  };
  const { path } = await org.create(fields);
  const versions = () =>
    sql`select xmin::text from product_counts where organization_id = ${org.id}`;
  const before = await versions();

  const { status } = await org.put(path, fields);

  assertEquals(status, 200);
  assertEquals([...await versions()], [...before]);
});

it("do not change if a product in a program is not deleted", async ({ org, app, sql }) => {
  const values = await valuesOf(app, org);
  const { id, path } = await org.create({ format_id: org.format });
  await sql`
    insert into publishing_program_products (organization_id, program_id, product_id)
    values (${org.id}, ${org.program}, ${id})
  `;

  const { status } = await org.delete(path);

  assertEquals(status, 409);
  await assertTotals(app, org, values);
});

it("match the entries while products are deleted", async ({ org, sql }) => {
  // Lists build the JSON of these products from the tables.
  const loaded = await sql<{ id: string }[]>`
    insert into products (organization_id, title)
    select ${org.id}, 'Loaded' from generate_series(1, 30)
    returning id
  `;
  let isOver = false;
  const deleting = (async () => {
    for (const { id } of loaded) await org.delete(`/api/products/${id}`);
    isOver = true;
  })();

  while (!isOver) {
    const { body } = await org.get("/api/products?limit=100");
    assertEquals(body.data.length, body.meta.total);
    // The next list finds no valid documents.
    await sql`delete from product_documents where organization_id = ${org.id}`;
  }
  await deleting;
});

// A recount keeps every writer of the database waiting, so that those of other tests would fail.
Deno.test(
  "The totals of lists after a recount",
  TIMED,
  async ({ step: it }) => {
    await using app = await openOwnApp();
    const { sql } = app;

    await it({
      name: "include products inserted by SQL, before and after it",
      ignore: app.isDistributed,
      fn: async () => {
        const seed = crypto.getRandomValues(new Uint32Array(1))[0]!;
        const random = randomBy(seed);
        const org = await app.organization();
        const values = await valuesOf(app, org);
        await org.create(someValues(values, random));
        const loaded = Array.from({ length: 12 }, () => ({
          organization_id: org.id,
          id: uuidv7(),
          title: "Loaded",
          ...someValues(values, random),
        }));
        const write = async (rows: typeof loaded) => {
          const [updated, cleared, deleted] = rows.map(({ id }) =>
            `/api/products/${id}`
          );
          await org.put(updated!, someValues(values, random));
          await org.put(cleared!, {
            format_id: null,
            lifecycle_status_id: null,
          });
          await org.delete(deleted!);
          await org.create(someValues(values, random));
        };

        await sql`
          insert into products (
            organization_id, id, title,
            publishing_status_id, lifecycle_status_id, product_availability_id, format_id
          )
          select
            organization_id, id, title,
            publishing_status_id, lifecycle_status_id, product_availability_id, format_id
          from jsonb_populate_recordset(null::products, ${sql.json(loaded)})
        `;
        await assertTotals(app, org, values, `seed ${seed}`);
        await write(loaded.slice(0, 3));
        await assertTotals(app, org, values, `seed ${seed}`);

        await recount(
          app.database.for({ deadline: performance.now() + 60_000 }),
        );

        await assertTotals(app, org, values, `seed ${seed}`);
        await write(loaded.slice(3, 6));
        await assertTotals(app, org, values, `seed ${seed}`);
      },
    });

    await it("are exact after writes during it", async () => {
      const seed = crypto.getRandomValues(new Uint32Array(1))[0]!;
      const random = randomBy(seed);
      const org = await app.organization();
      const values = await valuesOf(app, org);
      const ids = Array.from({ length: 12 }, () => uuidv7());
      await sql`
        insert into products (organization_id, id, title, format_id)
        select ${org.id}, id::uuid, 'Loaded', ${org.format}
        from jsonb_array_elements_text(${sql.json(ids)}) id
      `;

      await Promise.all([
        ...ids.map((id, i) =>
          i % 3
            ? org.put(`/api/products/${id}`, someValues(values, random))
            : org.delete(`/api/products/${id}`)
        ),
        recount(app.database.for({ deadline: performance.now() + 60_000 })),
        org.create(someValues(values, random)),
      ]);

      await assertTotals(app, org, values, `seed ${seed}`);
    });
  },
);

/** Some of the filter columns, each with one of its values or null. */
function someValues(values: Values, random: () => number) {
  return Object.fromEntries(COUNTED.flatMap((column) => {
    if (random() < 0.3) return [];
    return [[column, [...values[column], null][Math.floor(random() * 3)]]];
  }));
}

/** A random number generator from 0 to 1 with a seed (mulberry32). */
function randomBy(seed: number): () => number {
  return () => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4_294_967_296;
  };
}
