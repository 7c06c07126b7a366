import { assert, assertEquals } from "@std/assert";
import { openApp } from "../support/app/harness.ts";
import type { Reply } from "../support/client/envelope.ts";
import { onixClient } from "../support/client/onix.ts";
import { productsIn } from "../support/data/onix.ts";
import { SAMPLES } from "./support.ts";

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
  name: "Imports of messages of others",
  ignore: !SAMPLES,
  async fn(t) {
    await using app = await openApp();
    const files = [...Deno.readDirSync(SAMPLES!)]
      .map(({ name }) => name).filter((name) => name.endsWith(".xml")).sort();

    for (const file of files) {
      await t.step(file, async () => {
        const bytes = await Deno.readFile(new URL(file, SAMPLES));
        const org = await app.organization();
        const one = onixClient(app, org);
        const other = onixClient(app, await app.organization());

        const dry = await one.post(bytes, "?dry_run=true");
        const real = await one.post(bytes);

        assertEquals(dry.status, real.status);
        assertEquals(comparable(dry), comparable(real));
        if (real.status !== 200) {
          return assertEquals(real.body.error.code, "INVALID_XML");
        }
        const again = await one.report(bytes);
        assertEquals([again.created, again.updated, again.deleted], [0, 0, 0]);
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
