import { assertEquals } from "@std/assert";
import { openOwnApp } from "../support/app/own_app.ts";
import { onixClient } from "../support/client/onix.ts";
import { errorsOf } from "../support/client/writing.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";

/* What a constraint refuses that the operator has added, which no rule of the service explains. */

Deno.test("A constraint of the operator's own", async ({ step: it }) => {
  await using app = await openOwnApp();
  const { sql } = app;
  const org = await app.organization();
  await sql`alter table products add constraint house_title check (title <> 'xyzzy')`;
  const titles = ["Emma", "xyzzy", "Persuasion", "xyzzy", "Sanditon"];

  await it("refuses only the operations of a batch at fault", async () => {
    const { status, body } = await org.batch(titles.map((title) => ({
      method: "create",
      body: { title },
    })));

    assertEquals(status, 200);
    assertEquals(
      body.data.map((result: { status: number }) => result.status),
      [201, 400, 201, 400, 201],
    );
    assertEquals(errorsOf(body.data[1]), [["", "refused"]]);
    assertEquals(
      body.data[1].error.details[0].message,
      "The database refuses the product (SQLSTATE 23514)",
    );
  });

  await it("rejects only the records of a message at fault", async () => {
    const { outcomes } = await onixClient(app, org).report(
      message(
        ...titles.map((title, i) => record({ title, reference: `own ${i}`, isbn: isbnOf(i) })),
      ),
    );

    assertEquals(
      outcomes.map(({ outcome }: { outcome: string }) => outcome),
      ["created", "rejected", "created", "rejected", "created"],
    );
    assertEquals(outcomes[1].messages.at(-1).code, "refused");
  });
});
