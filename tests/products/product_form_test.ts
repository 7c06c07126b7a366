import { assert, assertEquals } from "@std/assert";
import { assertDetails } from "../support/client/expect.ts";
import { errorsOf } from "../support/client/writing.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { idOfCode } from "../../schema/code_ids.ts";

const [paperback, hardback] = ["BC", "BB"].map((form) => idOfCode("150", form));

const it = testsOf("product_form_id");

it("is given by its code to a format, too", async ({ org }) => {
  const paper = { name: "Paper", product_form_code: "BC" };
  const { status, headers, body: { data } } = await org.post(
    "/api/formats",
    paper,
  );
  const path = `/api/formats/${data.id}`;

  const hard = await org.put(path, { product_form_code: "BB" });
  const same = await org.put(path, hard.body.data);
  const none = await org.put(path, { product_form_code: null });
  const wrong = await org.put(path, { product_form_code: "Paperback" });

  assertEquals([status, headers.get("ignored-fields")], [201, null]);
  assertEquals(data.product_form_id, paperback);
  assertEquals(hard.body.data.product_form_id, hardback);
  assertEquals([same.status, same.body.data.product_form_id], [200, hardback]);
  assertEquals(none.body.data.product_form_id, null);
  assertEquals(errorsOf(wrong.body), [["/product_form_code", "invalid_code"]]);
});

it("is shared by all products of the format", async ({ org, app }) => {
  const { path: sibling } = await org.create({ format_id: org.format });

  const { product } = await org.create({
    format_id: org.format,
    product_form_id: paperback,
  });
  const { body: { data: other } } = await org.get(sibling);

  assertEquals(product.product_form_id, paperback);
  assertEquals(other.product_form_id, paperback);
  assertEquals(await formOf(app, org, org.format), paperback);
});

it("warns of the other products that it changes, and shows them in the history", async ({ org, app }) => {
  const isbn13 = "9780141439587";
  const { path, product } = await org.create({ isbn13, format_id: org.format });
  for (const title of ["A", "B"]) await org.create({ title, format_id: org.format });
  const { path: bare } = await org.create({ title: "Without a format" });
  const warning = (n: number, form: string) =>
    `shared: The format "Format" stores the product form: it changes for ${n} other products, too`
      .replace("Format", form);
  const { body: { data: format } } = await org.get(`/api/formats/${org.format}`);
  const told = ({ warnings = [] }: { warnings?: Record<string, string>[] }) =>
    warnings.map(({ pointer, code, message }) => [pointer, `${code}: ${message}`]);
  const sheetOf = (query: string, text: string) =>
    app.send(`/api/csv/products${query}`, {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "text/csv" },
      body: text,
    });

  const put = await org.put(path, { product_form_code: "BC" });
  const again = await org.put(path, { product_form_code: "BC" });
  const batch = await org.post("/api/products/batch", {
    operations: [
      { method: "update", id: product.id, body: { product_form_id: hardback } },
      { method: "create", body: { title: "C", format_id: org.format, product_form_code: "BC" } },
    ],
  });
  const dry = await sheetOf("?dry_run=true", `isbn13,product_form_code\n${isbn13},BB\n`);
  const sheet = await sheetOf("", `isbn13,product_form_code\n${isbn13},BB\n`);
  const id = bare.split("/").at(-1);
  const unused = await sheetOf("", `id,title,product_form_code\n${id},New,BB\n`);

  assertEquals(told(put.body), [["/product_form_code", warning(2, format.name)]]);
  assertEquals(told(again.body), []);
  assertEquals(told(batch.body), [
    ["/operations/0/body/product_form_id", warning(2, format.name)],
    ["/operations/1/body/product_form_code", warning(3, format.name)],
  ]);
  for (const { body: { data } } of [dry, sheet]) {
    const [{ column, code, message }] = data.outcomes[0].messages;
    assertEquals([data.updated, data.warnings, column], [1, 1, "product_form_code"]);
    assertEquals(`${code}: ${message}`, warning(3, format.name));
  }
  const [row] = unused.body.data.outcomes;
  assertEquals(row.messages.map(({ code }: { code: string }) => code), ["ignored"]);
  assertEquals(row.changes.map(({ column }: { column: string }) => column), ["title"]);
  const { body: { data: entries } } = await org.get(`${path}/history?changed=product_form_id`);
  assertEquals(
    entries.map(({ changes }: { changes: unknown }) => changes),
    [[paperback, hardback, 3], [paperback, hardback, 2], [null, paperback, 2]].map((
      [from, to, products],
    ) => [{ pointer: "/product_form_id", kind: "changed", from, to, products }]),
  );
});

it("changes the stored format", async ({ org, app }) => {
  const { path, product } = await org.create({ format_id: org.format });

  const set = await org.put(path, { product_form_id: paperback });
  const kept = await org.put(path, { title: "Persuasion" });
  const cleared = await org.put(path, { product_form_id: null });

  assertEquals(product.product_form_id, null);
  assertEquals(set.body.data.product_form_id, paperback);
  assert(set.body.data.updated_at > product.updated_at);
  assertEquals(kept.body.data.product_form_id, paperback);
  assertEquals(cleared.body.data.product_form_id, null);
  assertEquals(await formOf(app, org, org.format), null);
});

it("changes only the format in the same request", async ({ org, app }) => {
  const ebook = await createFormat(app, org);
  const { path } = await org.create({
    format_id: org.format,
    product_form_id: paperback,
  });

  const moved = await org.put(path, {
    format_id: ebook,
    product_form_id: hardback,
  });
  const back = await org.put(path, { format_id: org.format });

  assertEquals(moved.body.data.product_form_id, hardback);
  assertEquals(back.body.data.product_form_id, paperback);
  assertEquals(await formOf(app, org, ebook), hardback);
});

it("is the last of a batch", async ({ org, app }) => {
  const products = [];
  for (let i = 0; i < 2; i++) {
    products.push(await org.create({ format_id: org.format }));
  }
  for (const forms of [[paperback, hardback], [hardback, paperback]]) {
    const operations = products.map(({ id }, i) => ({
      method: "update",
      id,
      body: { product_form_id: forms[i] },
    }));

    const { status } = await org.batch(operations);

    assertEquals(status, 200);
    assertEquals(await formOf(app, org, org.format), forms[1]);
  }
});

it("is refused if unknown, although the batch then sets another", async ({ org, app }) => {
  const operations = [crypto.randomUUID(), hardback].map((form) => ({
    method: "create",
    body: { title: "Emma", format_id: org.format, product_form_id: form },
  }));

  const { body } = await org.batch(operations);

  const [refused, created] = body.data;
  assertEquals([refused.status, created.status], [400, 201]);
  assertEquals(errorsOf(refused), [["/product_form_id", "unknown_reference"]]);
  assertEquals(await formOf(app, org, org.format), hardback);
});

it("does not change a format that has it already", async ({ org }) => {
  const { path } = await org.create({
    format_id: org.format,
    product_form_id: paperback,
  });
  const format = await org.get(`/api/formats/${org.format}`);

  await org.put(path, { title: "Persuasion", product_form_id: paperback });

  const later = await org.get(`/api/formats/${org.format}`);
  assertEquals(later.headers.get("etag"), format.headers.get("etag"));
});

it("has no effect without a format", async ({ org, app }) => {
  const { path, product } = await org.create({ product_form_id: paperback });
  const { status, body } = await org.put(path, { product_form_id: hardback });
  const cleared = await org.put(path, {
    format_id: org.format,
    product_form_id: null,
  });
  const dropped = await org.put(path, {
    format_id: null,
    product_form_id: paperback,
  });

  assertEquals(product.product_form_id, null);
  assertEquals([status, body.data.product_form_id], [200, null]);
  assertEquals(cleared.status, 200);
  assertEquals(
    [dropped.status, dropped.body.data.product_form_id],
    [200, null],
  );
  assertEquals(await formOf(app, org, org.format), null);
});

it("is refused if unknown, with and without a format", async ({ org }) => {
  const { path } = await org.create();
  for (const product_form_id of [crypto.randomUUID(), org.format]) {
    for (const format_id of [null, org.format]) {
      const body = { title: "x", format_id, product_form_id };
      const error = ["/product_form_id", "unknown_reference"] as const;
      assertDetails(await org.post("/api/products", body), error);
      assertDetails(await org.put(path, body), error);
    }
  }
});

async function createFormat(app: App, org: Organization): Promise<string> {
  const id = uuidv7();
  await app.sql`
    insert into formats (organization_id, id, name) values (${org.id}, ${id}, 'Ebook')
  `;
  return id;
}

async function formOf(
  app: App,
  org: Organization,
  format: string,
): Promise<string | null | undefined> {
  const [row] = await app.sql<{ product_form_id: string | null }[]>`
    select product_form_id from formats
    where organization_id = ${org.id} and id = ${format}
  `;
  return row?.product_form_id;
}
