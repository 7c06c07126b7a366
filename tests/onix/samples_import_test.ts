import { assert, assertEquals } from "@std/assert";
import { openApp } from "../support/app/harness.ts";
import type { Reply } from "../support/client/envelope.ts";
import { onixClient } from "../support/client/onix.ts";
import { productsIn } from "../support/data/onix.ts";
import { SAMPLES } from "./support.ts";

/** The outcomes of our own messages: counts, and the codes of each record's messages. Null: the message is refused. */
const EXPECTED: Record<string, unknown> = {
  "book_3.0_short.xml": created(["credentials_removed"]),
  "book_3.1_reference.xml": created(["credentials_removed"]),
  "deletion_of_nothing.xml": { ...created([]), codes: [["not_found"], []] },
  "early_announcement.xml": created(["imprecise_date"]),
  "not_well_formed.xml": null,
  "rejected.xml": {
    counts: { created: 0, updated: 0, deleted: 0, rejected: 2 },
    codes: [["invalid_isbn13"], ["no_title"]],
  },
  "same_reference_twice.xml": { ...created([]), codes: [["superseded"], []] },
  "series.xml": created([], [], []),
  "windows_1252_defaults.xml": created([]),
};

/** A message whose records each become a product, with these messages. */
function created(...codes: string[][]) {
  const counts = { created: codes.length, updated: 0, deleted: 0, rejected: 0 };
  return { counts, codes };
}

function summary({ body: { data } }: Reply) {
  const { created, updated, deleted, rejected, outcomes } = data;
  return {
    counts: { created, updated, deleted, rejected },
    codes: outcomes.map(({ messages }: { messages: { code: string }[] }) =>
      messages.map(({ code }) => code)
    ),
  };
}

/** A report without the ids of products that a dry run does not create. */
function comparable({ body: { data } }: Reply) {
  return data && {
    ...data,
    dry_run: undefined,
    outcomes: data.outcomes.map((one: { outcome: string; id: string }) => ({
      ...one,
      id: one.outcome === "created" ? null : one.id,
    })),
  };
}

Deno.test({
  name: "Imports of whole messages",
  async fn(t) {
    await using app = await openApp();

    const known = SAMPLES.map(({ name }) => name);
    assertEquals(
      Object.keys(EXPECTED).filter((name) => !known.includes(name)),
      [],
    );

    for (const { name, url } of SAMPLES) {
      await t.step(name, async () => {
        const bytes = await Deno.readFile(url);
        const org = await app.organization();
        const one = onixClient(app, org);
        const other = onixClient(app, await app.organization());

        const dry = await one.post(bytes, "?dry_run=true");
        const real = await one.post(bytes);

        assertEquals(dry.status, real.status);
        assertEquals(comparable(dry), comparable(real));
        if (real.status !== 200) {
          assertEquals(EXPECTED[name] ?? null, null, real.text);
          return assertEquals(real.body.error.code, "INVALID_XML");
        }
        if (name in EXPECTED) assertEquals(summary(real), EXPECTED[name]);
        const again = await one.report(bytes);
        assertEquals([again.created, again.updated, again.deleted], [0, 0, 0]);
        // It has been told without reading the records, as if they were read.
        await app.sql`update onix_records set reading = null where organization_id = ${org.id}`;
        assertEquals(await one.report(bytes), again);
        const { created, outcomes } = real.body.data;
        if (created === 0) return;
        // The fields are compared now, instead of the records.
        for (const { id, outcome } of outcomes) {
          if (outcome !== "created") continue;
          await org.put(`/api/products/${id}`, { product_type: "kit" });
        }
        const compared = await one.report(bytes);
        assertEquals([compared.created, compared.updated], [0, 0]);
        const exported = (await one.feed(created)).sort();
        const copied = await other.report(messageOf(exported));
        assertEquals(copied.created, created, JSON.stringify(copied));
        assertEquals((await other.feed(created)).sort(), exported);
        assert(exported.every((text) => productsIn(text).length === 1));
      });
    }
  },
});

/** A message of release 3.1, as the service writes it. */
function messageOf(products: readonly string[]): string {
  return `<ONIXMessage release="3.1" xmlns="http://ns.editeur.org/onix/3.1/reference"><Header><Sender><SenderName>Test</SenderName></Sender></Header>${
    products.join("")
  }</ONIXMessage>`;
}
