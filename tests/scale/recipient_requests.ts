import { keepRecipient, newKey } from "../../db/access.ts";
import type { Database } from "../../db/database.ts";
import { checkView } from "../../features/changes/db/check_view.ts";
import { recipientNamed } from "../../features/recipients/db/recipients.ts";
import type { View } from "../../schema/view.ts";
import { type App, send } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { settled } from "../support/app/settled.ts";

/** Makes recipients of every kind, and reads as their keys do. */
export async function askForRecipients(
  app: App,
  database: Database,
  org: Organization,
): Promise<void> {
  const handler = app.variant({ database });
  const asking = (key: string) => async (method: string, path: string, body?: unknown) => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return (await send(handler, `/api${path}`, { method, headers, ...text })).body;
  };
  const ask = asking(org.key);
  const queries = database.for({
    deadline: performance.now() + 60_000,
    caller: { organizationId: org.id, name: "command" },
  });
  const bodies = [
    {
      name: "Criteria",
      selection: {
        imprint_id: [org.imprint],
        program_id: [org.program],
        announced: "trade",
        publishing_status_code: ["04"],
      },
      except: { publisher_id: [org.publisher, org.publisher] },
      leave_out: ["season", "product_identifiers"],
    },
    { name: "Seen", except: { season_id: [org.season] }, leave_out: ["product_identifiers"] },
    { name: "Open", selection: {}, currencies: ["EUR"] },
  ];
  const { body: product } = await org.post("/api/products", { title: "A novel", isbn13: null });
  const { id } = product.data;
  for (const body of bodies) {
    const { data } = await ask("POST", "/recipients", body);
    const { key, statement } = newKey({
      organizationId: org.id,
      name: body.name,
      scope: "read",
      recipient: data.id,
    });
    await queries.write(keepRecipient(data.id), statement);
    const read = asking(key);
    for (
      const path of ["/products?limit=1", "/products?q=novle", "/products?q=nov pie&sort=title"]
    ) {
      await read("GET", path);
    }
    await read("GET", "/products?q=novel pie emma");
    await read("GET", `/products/${id}`);
    const first = await read("GET", "/products/changes?limit=1");
    await ask("PUT", `/recipients/${data.id}`, { leave_out: [] });
    await ask("PUT", `/products/${id}`, { subtitle: body.name });
    // Pages go up to the oldest transaction of the server, which may be another test's.
    await settled(app.sql);
    const after = `after=${first.meta.cursor}`;
    let cursor = first.meta.cursor;
    for (let page = 0; page < 3; page++) {
      cursor = (await read("GET", `/products/changes?limit=1&after=${cursor}`)).meta.cursor;
    }
    for (const path of ["changes", "changes?include=collateral"]) {
      await read("GET", `/products/${path}${path.includes("?") ? "&" : "?"}${after}`);
    }
    for (const path of ["/onix/products", `/onix/products/${id}`, "/csv/products"]) {
      await send(handler, `/api${path}`, { headers: { "x-api-key": key } });
    }
    // With other criteria, all products are checked again.
    for (const selection of [{}, { product_type: ["kit"] }, { publisher_id: [org.publisher] }]) {
      await ask("PUT", `/recipients/${data.id}`, { selection, except: null });
      await checkView(queries, { id: data.id } as View, true, 1);
      await ask("PUT", `/products/${id}`, { subtitle: JSON.stringify(selection) });
      await checkView(queries, { id: data.id } as View, true);
    }
    await read("GET", `/products/changes?${after}`);
  }
  await recipientNamed(queries, "Open");
  await ask("GET", "/recipients?search=o&name=Open&sort=-name");
  await ask("GET", `/products/${id}/recipients`);
  await ask(
    "DELETE",
    `/recipients/${(await ask("POST", "/recipients", { name: "Gone" })).data.id}`,
  );
}
