import { assertEquals } from "@std/assert";
import { propagateRenames } from "../../features/changes/db/renames.ts";
import { eventually } from "../support/app/eventually.ts";
import { onixTestsOf } from "../support/client/onix.ts";
import { message, record } from "../support/data/onix.ts";

/*
 * The identifiers of publishers, imprints and suppliers in messages.
 */

const it = onixTestsOf("The identifiers of parties in ONIX");

type Party = "Publisher" | "Imprint" | "Supplier";

/** An identifier as JSON and messages have it: type, value, and the name of type 01. */
type Identifier = [type: string, value: string, name?: string];

const GLN: Identifier = ["06", "5012345000015"];
const OURS: Identifier = ["01", "17", "Ours"];

function inXml(party: Party, all: Identifier[]): string {
  return all.map(([type, value, name]) =>
    `<${party}Identifier><${party}IDType>${type}</${party}IDType>${
      name ? `<IDTypeName>${name}</IDTypeName>` : ""
    }<IDValue>${value}</IDValue></${party}Identifier>`
  ).join("");
}

function inJson(all: Identifier[]) {
  return all.map(([name_id_type, id_value, name]) => (
    { name_id_type, id_type_name: name ?? null, id_value }
  ));
}

/** A message in which a party has these identifiers. */
function messageWith(party: Party, ...all: Identifier[]): string {
  const name = `<${party}Name>`;
  return message(record().replace(name, inXml(party, all) + name));
}

/** The identifiers of a party in a message. */
function sentOf(party: Party, text: string): Identifier[] {
  const each = new RegExp(
    `<${party}Identifier>[^]*?</${party}Identifier>`,
    "g",
  );
  return Array.from(text.matchAll(each), ([xml]) => {
    const valueOf = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(xml)?.[1];
    const name = valueOf("IDTypeName");
    const [type, value] = [valueOf(`${party}IDType`)!, valueOf("IDValue")!];
    return name ? [type, value, name] : [type, value];
  });
}

/** What a message of a product says of its party: what the party has, what the record said, and what goes out. */
const SENT: [has: Identifier[], said: Identifier[], sent: Identifier[]][] = [
  [[GLN, OURS], [], [GLN, OURS]],
  [[GLN], [["06", "0"], OURS], [GLN, OURS]],
  [[OURS], [["01", "9", "Theirs"], GLN], [["01", "9", "Theirs"], GLN, OURS]],
  [[GLN], [OURS, ["06", "0"], ["06", "1"]], [OURS, GLN]],
  [[GLN], [OURS, GLN, ["06", "1"]], [OURS, GLN, ["06", "1"]]],
];

for (const party of ["Publisher", "Imprint"] as const) {
  const path = (id: string) => `/api/${party.toLowerCase()}s/${id}`;

  it(`are sent as the ${party} has them, or else its record`, async ({ org, onix }) => {
    const own = path(party === "Publisher" ? org.publisher : org.imprint);
    for (const [has, said, sent] of SENT) {
      await org.put(own, { identifiers: inJson(has) });
      await onix.report(messageWith(party, ...said));
      const [product] = (await org.get("/api/products")).body.data;
      assertEquals(sentOf(party, await onix.xml(`/${product.id}`)), sent);
      assertEquals((await org.get(own)).body.data.identifiers, inJson(has));
    }
  });

  it(`are filled in a ${party} that has none, at any record of it`, async ({ org, onix }) => {
    const own = path(party === "Publisher" ? org.publisher : org.imprint);
    const { id } = await org.create({
      isbn13: "9780141439587",
      publisher_id: org.publisher,
      imprint_id: org.imprint,
    });
    await onix.report(messageWith(party));
    await org.put(own, { name: "Renamed" });
    await onix.report(messageWith(party, GLN, OURS));
    await onix.report(messageWith(party, ["06", "0"]));

    const { body: { data } } = await org.get(own);
    assertEquals(data.identifiers, inJson([GLN, OURS]));
    assertEquals(data.name, "Renamed");
    assertEquals(sentOf(party, await onix.xml(`/${id}`)), [GLN, OURS]);
  });

  it(`of a new ${party} are those of its first record`, async ({ org, onix }) => {
    const name = `New ${party}`;
    const field = party.toLowerCase();
    const text = messageWith(party, GLN)
      .replace(
        /(<(\w+)Name>)[^<]*(<\/\2Name>)/g,
        (all, start, one, end) => one === party ? start + name + end : all,
      );
    const { outcomes: [outcome], unmapped } = await onix.report(text);

    const { body: { data } } = await org.get(`/api/products/${outcome.id}`);
    const own = (await org.get(path(data[`${field}_id`]))).body.data;
    assertEquals([own.name, own.identifiers], [name, inJson([GLN])]);
    assertEquals(unmapped, []);
    assertEquals((await onix.report(text)).unchanged, 1);
  });

  it(`of a new ${party} of two records are those of the first`, async ({ another }) => {
    const { org, onix } = await another();
    const field = party.toLowerCase();
    const named = (reference: string, id: Identifier) =>
      record({ reference, isbn: null, [field]: `Newest ${party}` })
        .replace(`<${party}Name>`, inXml(party, [id]) + `<${party}Name>`);
    const { outcomes: [{ id }] } = await onix.report(
      message(named("a", GLN), named("b", ["06", "0"])),
    );

    const { body: { data } } = await org.get(`/api/products/${id}`);
    const own = (await org.get(path(data[`${field}_id`]))).body.data;
    assertEquals(own.identifiers, inJson([GLN]));
  });

  it(`of a ${party} that changes are a change of its products`, async ({ app, org, onix }) => {
    const own = path(party === "Publisher" ? org.publisher : org.imprint);
    const { outcomes: [{ id }] } = await onix.report(message(record()));
    const etag = (await org.get(`/api/onix/products/${id}`)).headers.get(
      "etag",
    );
    const feed = await org.get("/api/onix/products");
    const next = /<([^>]+)>/.exec(feed.headers.get("link")!)![1]!;

    await org.put(own, { identifiers: inJson([GLN]) });

    // Another process may be at it, and the feed waits for older transactions of the server.
    await eventually([GLN], async () => {
      await propagateRenames(app.database);
      return sentOf(party, (await org.get(next)).text);
    });
    const { headers } = await org.get(`/api/onix/products/${id}`);
    assertEquals(headers.get("etag") !== etag, true);
  });

  it(`that JSON would refuse stay in the record of the ${party}`, async ({ org, onix }) => {
    const wrong: Identifier = ["01", "5"];
    const report = await onix.report(messageWith(party, wrong, GLN));

    const [{ messages, id }] = report.outcomes;
    assertEquals(
      messages.map((
        { code, path }: { code: string; path: string },
      ) => [code, path]),
      [
        [
          "required",
          `/Product/PublishingDetail/${party}/${party}Identifier[1]/IDTypeName`,
        ],
      ],
    );
    const own = path(party === "Publisher" ? org.publisher : org.imprint);
    assertEquals((await org.get(own)).body.data.identifiers, inJson([GLN]));
    assertEquals(sentOf(party, await onix.xml(`/${id}`)), [wrong, GLN]);
  });
}

it("of a supplier are read, sent, and stay when the name changes", async ({ onix, org, product }) => {
  const { outcomes: [{ id }] } = await onix.report(
    messageWith("Supplier", GLN, OURS),
  );
  const { product_territories: tree } = await product(id);
  const [{ supply_details: [{ supplier }] }] = tree;
  assertEquals(supplier.supplier_identifiers, [
    { supplier_id_type: "06", id_type_name: null, id_value: GLN[1] },
    { supplier_id_type: "01", id_type_name: OURS[2], id_value: OURS[1] },
  ]);

  supplier.supplier_name = "Quay Wholesale";
  await org.put(`/api/products/${id}/territories`, tree);
  assertEquals(sentOf("Supplier", await onix.xml(`/${id}`)), [GLN, OURS]);

  supplier.supplier_identifiers[0].id_value = "0";
  supplier.supplier_identifiers.pop();
  await org.put(`/api/products/${id}/territories`, tree);
  assertEquals(sentOf("Supplier", await onix.xml(`/${id}`)), [["06", "0"]]);
});

it("do not hide that a supply is the same with another price", async ({ onix, org, product }) => {
  const { outcomes: [{ id }] } = await onix.report(
    messageWith("Supplier", OURS),
  );
  const before = await product(id);
  const [{ supply_details: [supply] }] = before.product_territories;
  supply.order_time = 3;
  await org.put(`/api/products/${id}/territories`, before.product_territories);

  await onix.report(messageWith("Supplier", GLN));

  const [{ supply_details: [after] }] = (await product(id)).product_territories;
  assertEquals([after.id, after.order_time], [supply.id, 3]);
  assertEquals(sentOf("Supplier", await onix.xml(`/${id}`)), [GLN]);
});
