import { gzip } from "node:zlib";
import { promisify } from "node:util";
import { openApp } from "../support/app/harness.ts";
import { openInstalledDatabase } from "../support/app/fresh_database.ts";
import { onixClient } from "../support/client/onix.ts";
import { fullBody } from "../support/data/bodies.ts";
import type { Answers } from "./dumps.ts";

/*
 * Makes the dump of a database of this checkout, and the answers of its service, which the next
 * releases must still give. With TEST_DATABASE_URL:
 *
 *     deno run -A --lock=tests/deno.lock tests/upgrades/make.ts NAME
 *
 * It has what an upgrade may break: products with every field, versions by the API, by ONIX and by
 * SQL, a deletion, a rename that no process has propagated yet, webhooks and keys.
 */

const [name] = Deno.args;
await using fresh = await openInstalledDatabase();
await using app = await openApp({}, { url: fresh.settings.url! });
const org = await app.organization();
const onix = onixClient(app, org);

const full = { ...await fullBody(app, org), isbn13: "9780141439587", isbn10: null };
const { id, path } = await org.create(full);
await org.put(path, { title: "Emma: a novel", page_count: 480 });
await org.put(path, {
  contributors: [],
  product_prices: [{ currency_code: "GBP", retail_price_inc_tax: "7.99" }],
});
const message = await Deno.readTextFile(
  new URL("../onix/messages/book_3.1_reference.xml", import.meta.url),
);
const { outcomes: [{ id: imported }] } = await onix.report(message);
await org.put(`/api/products/${imported}`, { subtitle: "Edited after the import" });
const gone = await org.create({ ...full, title: "Deleted", isbn13: null });
await org.put(gone.path, { subtitle: "Before the deletion" });
await org.delete(gone.path);
const plain = await org.create({ title: "Changed by SQL", publisher_id: org.publisher });
const { body: { data: { id: publisher } } } = await org.post("/api/publishers", { name: "Quay" });
const renamed = await org.create({ title: "Renamed", publisher_id: publisher });
await app.sql`update products set subtitle = 'By SQL' where id = ${plain.id}`;
await org.post("/api/webhooks", { url: "https://receiver.example/catalogue", name: "Shop" });
await org.post("/api/api-keys", { name: "Shop", scope: "read" });

const answers: Record<string, unknown> = {};
async function record(path: string): Promise<unknown> {
  const { status, body } = await org.get(path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  answers[path.replace("/api", "")] = body.data;
  return body.data;
}
for (const one of [id, imported, plain.id]) {
  await record(`/api/products/${one}`);
  const versions = await record(`/api/products/${one}/history`) as { version: string }[];
  for (const { version } of versions) await record(`/api/products/${one}?version=${version}`);
}
await record(`/api/products/${gone.id}/history`);
// Without a beginning, the history has the entries of the last day.
const history = `history?since=${new Date().toISOString().slice(0, 10)}`;
for (const resource of ["products/deleted", history, "webhooks", "organization", "contributors"]) {
  await record(`/api/${resource}`);
}
await org.put(`/api/publishers/${publisher}`, { name: "Quay, renamed" });
const dump = await new Deno.Command("pg_dump", {
  args: [
    "--no-owner",
    "--no-privileges",
    "--no-toast-compression",
    "--rows-per-insert=1000",
    fresh.settings.url!,
  ],
}).output();
if (!dump.success) throw new Error(new TextDecoder().decode(dump.stderr));
const folder = new URL("./", import.meta.url);
await Deno.writeFile(
  new URL(`${name}.sql.gz`, folder),
  await promisify(gzip)(dump.stdout, { level: 9 }),
);
const made: Answers = {
  key: org.key,
  organization: org.id,
  renamed: renamed.id,
  deleted: gone.id,
  edited: id,
  imported,
  onix: (await onix.xml(`/${imported}`)).replace(/<SentDateTime>.*?<\/SentDateTime>/, ""),
  answers,
};
await Deno.writeTextFile(new URL(`${name}.json`, folder), JSON.stringify(made, null, 1) + "\n");
