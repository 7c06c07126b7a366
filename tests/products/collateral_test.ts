import { assertEquals } from "@std/assert";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import { testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

const TEXT = { collateral_type: "text_content", text: "Handsome and clever" };
const CITED = { collateral_type: "cited_content", source_title: "The Times" };
const AWARD = { collateral_type: "award", prize_name: "A prize" };

const it = testsOf("PUT /products/{id}: collateral");

it("refuses fields of another type", async ({ org }) => {
  const { path, ids } = await productOfAllTypes(org);

  const created = await org.post("/api/products", {
    title: "x",
    collateral: [{ ...AWARD, text: "x", source_title: null }],
  });
  const typed = await org.put(path, {
    collateral: [{ id: ids.award, collateral_type: "award", text: "x" }],
  });
  const untyped = await org.put(path, {
    collateral: [
      { id: ids.award, text: "x" },
      { id: ids.text, citation_note: "x" },
    ],
  });
  const mixed = await org.put(path, {
    collateral: [{ id: ids.award, prize_jury: "x", text_author: "x" }],
  });

  assertDetails(
    created,
    ["/collateral/0/text", "unknown_field"],
    ["/collateral/0/source_title", "unknown_field"],
  );
  assertDetails(typed, ["/collateral/0/text", "unknown_field"]);
  assertDetails(
    untyped,
    ["/collateral/0/text", "unknown_field"],
    ["/collateral/1/citation_note", "unknown_field"],
  );
  assertEquals(mixed.status, 400);
});

it("refuses a change of type", async ({ org }) => {
  const { path, ids } = await productOfAllTypes(org);

  const reply = await org.put(path, {
    collateral: [
      { id: ids.award, collateral_type: "text_content", text: "x" },
      { id: ids.text, collateral_type: "cited_content" },
    ],
  });

  assertDetails(
    reply,
    ["/collateral/0/collateral_type", "immutable"],
    ["/collateral/1/collateral_type", "immutable"],
  );
});

it("keeps its main field, whose name two types share", async ({ org }) => {
  const { path, ids } = await productOfAllTypes(org);

  for (const source_title of [null, "", "  "]) {
    const refused = await org.put(path, {
      collateral: [{ id: ids.cited, source_title }],
    });
    const { status, body: { data } } = await org.put(path, {
      collateral: [{ id: ids.text, source_title }, { id: ids.cited }],
    });

    assertDetails(refused, [
      "/collateral/0/source_title",
      source_title === null ? "invalid_type" : "blank",
    ]);
    assertEquals(status, 200);
    assertHas(data.collateral, [{ source_title }, {
      source_title: "The Times",
    }]);
  }
});

/** Who wrote a review, and where. */
const SOURCE = {
  text_author: "Jane Roe",
  text_source_corporate: "Paper Ltd",
  text_source_description: "Critic of The Paper",
  source_title: "The Paper",
};

/** What is sent of a review, and what is then shown. */
// deno-fmt-ignore
const SOURCES: Record<string, [sent: Record<string, unknown>, shown: (string | null)[]]> = {
  "another author": [{ text_author: "John" }, ["John", "Paper Ltd", null, "The Paper"]],
  "as shown, with another author": [{ ...SOURCE, text_author: "John" }, ["John", "Paper Ltd", null, "The Paper"]],
  "no author": [{ text_author: null }, [null, "Paper Ltd", null, "The Paper"]],
  "another organization": [{ ...SOURCE, text_source_corporate: "Quay" }, ["Jane Roe", "Quay", null, "The Paper"]],
  "another publication": [{ ...SOURCE, source_title: "The Post" }, ["Jane Roe", null, null, "The Post"]],
  "another author and description": [{ text_author: "John", text_source_description: "Clerk" }, ["John", "Paper Ltd", "Clerk", "The Paper"]],
  "another text": [{ ...SOURCE, text: "New" }, Object.values(SOURCE)],
  "a description": [{ text_source_description: "Clerk" }, ["Jane Roe", "Paper Ltd", "Clerk", "The Paper"]],
};

const sourcesOf = ({ collateral: [text] }: { collateral: Record<string, unknown>[] }) =>
  Object.keys(SOURCE).map((name) => text![name]);

it("clears what says something of a former author, organization or publication", async ({ org }) => {
  for (const [what, [sent, shown]] of Object.entries(SOURCES)) {
    const { path, id, product } = await org.create({ collateral: [{ ...TEXT, ...SOURCE }] });
    const { id: row } = product.collateral[0];
    const body = { collateral: [{ id: row, ...sent }] };

    const { body: { data } } = await org.put(path, body);
    assertEquals(sourcesOf(data), shown, what);

    // A version is restored as it was, and a batch changes a product as PUT does.
    const { body: { data: [, { version }] } } = await org.get(`${path}/history`);
    const restored = await org.post(`${path}/restore`, { version });
    assertEquals(sourcesOf(restored.body.data.product), Object.values(SOURCE), what);
    const batch = await org.batch([{ method: "update", id, body }]);
    assertEquals(sourcesOf(batch.body.data[0].data), shown, what);
  }

  const { path, product } = await org.create({
    collateral: [{ ...TEXT, text_source_description: "Critic" }],
  });
  const { id } = product.collateral[0];
  const { body: { data } } = await org.put(path, { collateral: [{ id, text_author: "Jane Roe" }] });
  assertEquals(sourcesOf(data), ["Jane Roe", null, "Critic", null]);
});

async function productOfAllTypes(org: Organization) {
  const { path, product } = await org.create({
    collateral: [TEXT, CITED, AWARD],
  });
  const rows: { id: string }[] = product.collateral;
  const [text = "", cited = "", award = ""] = rows.map(({ id }) => id);
  return { path, rows, ids: { text, cited, award } };
}
