import { assert, assertEquals } from "@std/assert";
import { checkView } from "../../features/changes/db/check_view.ts";
import type { View } from "../../schema/view.ts";
import { RELEASES, TAGS } from "../../features/onix/schema/rules/releases.ts";
import { faultsOf, HAS_SCHEMAS } from "../onix/schemas.ts";
import { bound, type BoundReader, settledFor } from "../support/app/bound.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import { fullBody } from "../support/data/bodies.ts";
import type { Reply } from "../support/client/envelope.ts";

const it = testsOf("/recipients");

/** The codes of an error's details. */
function codesOf({ body }: Reply): string[] {
  return body.error.details.map(({ code }: { code: string }) => code);
}

/** The entries of a recipient's feed after a cursor, as `id` or `-id`, and the next cursor. */
async function after(app: App, reader: BoundReader, cursor?: string, limit = 100) {
  await settledFor(reader, app);
  const entries: string[] = [];
  for (let at = cursor;;) {
    const { status, body, text } = await reader.get(
      `/api/products/changes?limit=${limit}${at ? `&after=${at}` : ""}`,
    );
    assertEquals(status, 200, text);
    // deno-lint-ignore no-explicit-any
    entries.push(...body.data.map(({ id, deleted }: any) => `${deleted ? "-" : ""}${id}`));
    at = body.meta.cursor as string;
    if (!body.meta.more) return { entries, cursor: at };
  }
}

it("have an effect, which a dry run tells, and warn of leaving by status", async ({ org }) => {
  await org.create({ publishing_status_code: "04" });
  await org.create({ publishing_status_code: "02" });
  const body = { name: "Shop", selection: { publishing_status_code: ["04"] } };
  const dry = await org.post("/api/recipients?dry_run=true", body);
  assertEquals([dry.status, dry.body.data.effect], [200, { comes: 1, leaves: 0 }]);
  assertEquals((await org.get("/api/recipients")).body.meta.total, 0);
  const { body: { data } } = await org.post("/api/recipients", body);
  assertEquals(data.warnings[0].pointer, "/selection/publishing_status_code");
  const path = `/api/recipients/${data.id}`;
  const all = await org.put(`${path}?dry_run=true`, { selection: {} });
  assertEquals(all.body.data.effect, { comes: 1, leaves: 0 });
  assertEquals((await org.get(path)).body.data.products, 1);
  assertEquals((await org.delete(`${path}?dry_run=true`)).body.data.effect, {
    comes: 0,
    leaves: 1,
  });
  assertEquals((await org.delete(path)).body.data.deleted, true);
  assertEquals((await org.delete(path)).body.data.deleted, false);
});

it("are refused with all errors at once", async ({ org }) => {
  const { status, body } = await org.post("/api/recipients", {
    selection: { imprint_id: [org.imprint, org.id], publishing_status_code: ["99"], color: [] },
    except: { program_id: [org.id] },
    leave_out: ["Territory", "title", "Stok", "j396", "Stock"],
    currencies: ["EURO"],
  });
  assertEquals(status, 400);
  assertEquals(
    // deno-lint-ignore no-explicit-any
    body.error.details.map(({ pointer, code }: any) => `${pointer} ${code}`).sort(),
    [
      "/currencies/0 invalid_code",
      "/except/program_id/0 unknown_reference",
      "/leave_out/0 limits",
      "/leave_out/1 invalid_value",
      "/leave_out/2 invalid_value",
      "/leave_out/3 invalid_value",
      "/name required",
      "/selection/color unknown_field",
      "/selection/imprint_id/1 unknown_reference",
      "/selection/publishing_status_code/0 invalid_code",
    ],
  );
});

it("get the names of people and publishers, and the days of a market", async ({ org }) => {
  const leave_out = ["PersonName", "CorporateName", "KeyNames", "PublisherName"]
    .concat("MarketPublishingDetail", "InitialPrintRun");
  const { body } = await org.post("/api/recipients?dry_run=true", { name: "Shop", leave_out });
  assertEquals(
    // deno-lint-ignore no-explicit-any
    body.error.details.map(({ pointer, code }: any) => `${pointer} ${code}`),
    [0, 1, 2, 3].map((i) => `/leave_out/${i} invalid_value`).concat("/leave_out/4 limits"),
  );
});

it("keep what a departure is known by, whatever hides it changes", async ({ org, app }) => {
  const { id, path } = await org.create({ imprint_id: org.imprint, isbn13: "9780306406157" });
  const reader = await bound(app, org, { selection: { imprint_id: [org.imprint] } });
  const { cursor } = await after(app, reader);
  await org.put(path, { imprint_id: null, isbn13: "9780140449112" });
  await settledFor(reader, app);
  const { body } = await reader.get(`/api/products/changes?after=${cursor}`);
  assertEquals([body.data[0].id, body.data[0].deleted, body.data[0].isbn13], [
    id,
    true,
    "9780306406157",
  ]);
});

it("hear nothing of an edit that is taken back, and only the difference of another", async ({ org, app }) => {
  const ours = await org.create({ imprint_id: org.imprint });
  const theirs = await org.create({});
  const reader = await bound(app, org, { selection: { imprint_id: [org.imprint] } });
  const path = `/api/recipients/${reader.id}`;
  let { cursor } = await after(app, reader);
  await org.put(path, { selection: { product_type: ["kit"] } });
  await org.put(path, { selection: { imprint_id: [org.imprint] } });
  assertEquals((await after(app, reader, cursor)).entries, []);
  // To everything, and back.
  await org.put(path, { selection: {} });
  let told = await after(app, reader, cursor);
  assertEquals(told.entries, [theirs.id]);
  cursor = told.cursor;
  const late = await org.create({});
  await org.delete(theirs.path);
  told = await after(app, reader, cursor);
  assertEquals(told.entries.sort(), [`-${theirs.id}`, late.id]);
  await org.put(path, { selection: { imprint_id: [org.imprint] } });
  told = await after(app, reader, told.cursor);
  assertEquals(told.entries, [`-${late.id}`]);
  // A copy that is behind all of it.
  const behind = await after(app, reader, cursor);
  // It has never been shown the last one.
  const departures = behind.entries.filter((entry) => entry.startsWith("-"));
  assertEquals(departures, [`-${theirs.id}`]);
  assert(!behind.entries.includes(`-${ours.id}`));
});

it("hear what was shown while they had no criteria, and nothing that is newer", async ({ org, app }) => {
  const title = async () => await org.create({ imprint_id: null });
  const kept = await title();
  const deletedOpen = await title();
  const restoredIn = await org.create({ imprint_id: org.imprint });
  const restoredHidden = await title();
  const deletedLimited = await title();
  const deletedBefore = await title();
  await org.delete(deletedBefore.path);
  const reader = await bound(app, org, {});
  const path = `/api/recipients/${reader.id}`;
  const { cursor } = await after(app, reader);
  for (const one of [deletedOpen, restoredIn, restoredHidden]) await org.delete(one.path);
  const told = await after(app, reader, cursor);

  await org.put(path, { selection: { program_id: [org.program] } });
  const hidden = await title();
  const gone = await title();
  await org.delete(gone.path);
  await org.delete(deletedLimited.path);
  for (const one of [restoredIn, restoredHidden, deletedBefore]) {
    assertEquals((await org.post(`${one.path}/restore`, {})).status, 200);
  }
  // A second edit changes nothing of what was shown.
  await org.put(path, { selection: { imprint_id: [org.imprint] } });
  await org.put(path, { selection: {} });
  await org.put(path, { selection: { imprint_id: [org.imprint] } });

  const lagging = await after(app, reader, cursor);
  assertEquals(
    lagging.entries.sort(),
    [
      `-${kept.id}`,
      `-${deletedOpen.id}`,
      `-${restoredHidden.id}`,
      `-${deletedLimited.id}`,
      restoredIn.id,
    ].sort(),
  );
  assert(!lagging.entries.join().includes(hidden.id));
  const recent = await after(app, reader, told.cursor);
  assertEquals(
    recent.entries.sort(),
    [`-${kept.id}`, `-${deletedLimited.id}`, restoredIn.id].sort(),
  );
});

it("get every product again when what is left out changes, a page at a time", async ({ org, app }) => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await org.create({ imprint_id: org.imprint })).id);
  await org.create({});
  for (const selection of [{ imprint_id: [org.imprint] }, {}]) {
    const reader = await bound(app, org, { selection });
    const first = await after(app, reader);
    await org.put(`/api/recipients/${reader.id}`, { name: "Renamed" });
    assertEquals((await after(app, reader, first.cursor)).entries, []);
    await org.put(`/api/recipients/${reader.id}`, { leave_out: ["season"] });
    const again = await after(app, reader, first.cursor, 2);
    assertEquals(again.entries.sort(), first.entries.sort());
    assertEquals((await after(app, reader, again.cursor)).entries, []);
  }
});

it("are checked in steps", async ({ org, app }) => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await org.create({ imprint_id: org.imprint })).id);
  const reader = await bound(app, org, { selection: { imprint_id: [org.imprint] } });
  const queries = app.database.for({
    deadline: performance.now() + 60_000,
    caller: { organizationId: org.id, name: "test" },
  });
  await checkView(queries, { id: reader.id } as View, true, 2);
  const { entries, cursor } = await after(app, reader);
  assertEquals(entries.sort(), ids.sort());
  for (const id of ids) await org.put(`/api/products/${id}`, { imprint_id: null });
  await checkView(queries, { id: reader.id } as View, true, 2);
  assertEquals((await after(app, reader, cursor)).entries.sort(), ids.map((id) => `-${id}`).sort());
});

it("are in use while a key works, and at most 100", async ({ org, app }) => {
  const reader = await bound(app, org);
  const path = `/api/recipients/${reader.id}`;
  const refused = await org.delete(path);
  assertEquals([refused.status, codesOf(refused)], [409, ["in_use"]]);
  await app.sql`update api_keys set revoked_at = now() where recipient_id = ${reader.id}`;
  assertEquals((await org.delete(path)).body.data.deleted, true);
  await app.sql`
    insert into recipients (organization_id, name, view)
    select ${org.id}, n::text, '{"selection":{},"except":null,"leave_out":[],"currencies":null,"price_types":null}'
    from generate_series(1, 100) n
  `;
  const full = await org.post("/api/recipients", { name: "One more" });
  assertEquals([full.status, codesOf(full)], [409, ["limit_reached"]]);
});

it("get valid ONIX, whatever is left out", async ({ org, app }) => {
  const { id } = await org.create(await fullBody(app, org));
  const views = [
    {
      leave_out: [
        "collateral",
        "supporting_resources",
        "related_products",
        "related_works",
        "subjects",
      ],
    },
    { leave_out: ["measures", "product_identifiers", "cover_image_url", "product_prices"] },
    { leave_out: ["Stock", "Price", "Measure", "SupplierIdentifier", "OrderTime"], currencies: [] },
    { currencies: ["USD"], price_types: ["01"] },
  ];
  for (const view of views) {
    const reader = await bound(app, org, { name: JSON.stringify(view), ...view });
    for (const release of RELEASES) {
      for (const tags of TAGS) {
        for (const path of [`/api/onix/products/${id}`, "/api/onix/products"]) {
          const { status, text } = await reader.get(`${path}?release=${release}&tags=${tags}`);
          assertEquals(status, 200, text);
          if (HAS_SCHEMAS) {
            assertEquals(await faultsOf(text, release, tags), "", JSON.stringify(view));
          }
        }
      }
    }
  }
});
