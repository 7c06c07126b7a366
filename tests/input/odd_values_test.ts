import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { DEFECTS } from "../../schema/defects.ts";
import { LINE_KINDS, validLine } from "../../schema/lines.ts";
import { openApp } from "../support/app/harness.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import { placesIn, replaced } from "../support/client/pointers.ts";
import { commandsOn, imported, withHeader } from "../support/client/transfer.ts";
import { fullBody } from "../support/data/bodies.ts";
import { TREE, withoutIds } from "../support/data/rights_tree.ts";

/** What any value of a body may be replaced by. Undefined removes it from its object. */
const ODD = [
  undefined,
  null,
  {},
  [],
  [[]],
  [null],
  { id: null },
  JSON.parse('{"__proto__": 1, "constructor": {}}'),
  JSON.rawJSON("1e400"),
  JSON.rawJSON("-12345678901234567890"),
  JSON.rawJSON("0.12345678901234567890"),
  JSON.rawJSON("0e400"),
  0,
  -1,
  true,
  false,
  "",
  " ",
  "\u00a0",
  "__proto__",
  "toString",
  "0",
  "1e400",
  "\ud800",
  "x".repeat(2001),
];

/** Copies in which every place has some of the odd values, in turn. */
function* mutantsOf(whole: object, values: number): Generator<unknown> {
  for (const [i, [at]] of placesIn(whole).entries()) {
    if (at === "") continue;
    for (let n = 0; n < values; n++) {
      yield replaced(whole, at, ODD[(i * values + n) % ODD.length]);
    }
  }
}

/** One of so many other fields is left out beside each odd value, in turn. */
const STEP = IS_WHOLE ? 1 : 4;

/** Copies in which a place has each of the odd values, beside all fields and without others. */
function* pairsOf(whole: object): Generator<unknown> {
  const places = placesIn(whole).map(([at]) => at).filter((at) => at);
  const parentOf = (at: string) => at.slice(0, at.lastIndexOf("/"));
  for (const at of places) {
    const besides = places.filter((each) => each !== at && parentOf(each) === parentOf(at));
    for (const [turn, odd] of ODD.entries()) {
      const mutant = replaced(whole, at, odd);
      yield mutant;
      for (const each of besides.filter((_, i) => i % STEP === turn % STEP)) {
        yield replaced(mutant, each, undefined);
        yield replaced(mutant, each, null);
      }
    }
  }
}

Deno.test("Odd values in any place of a product", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const body = await fullBody(app, org);
  const whole = {
    ...body,
    product_territories: withoutIds(TREE),
    product_sales_rights: [
      {
        sales_rights_type: "01",
        is_rest_of_world: false,
        territory: { countries_included: ["GB"] },
        publisher_name: "Harbour Press",
      },
      { sales_rights_type: "03", is_rest_of_world: true, territory: null },
    ],
  };
  const defects: unknown[] = [];
  const note = (error: unknown) => void defects.push(error);
  DEFECTS.subscribe(note);

  await it("break no rule", () => {
    const { schema } = LINE_KINDS.get("product")!;
    for (const field of Object.entries(whole)) {
      for (const mutant of pairsOf(Object.fromEntries([field]))) {
        validLine(schema, { id: uuidv7(), title: "Emma", ...mutant as object });
      }
    }
  });

  await it("fail an operation of a batch alone", async () => {
    const operations = [...mutantsOf(body, 1)].map((body) => (
      { method: "create", body }
    ));
    for (let i = 0; i < operations.length; i += 99) {
      const sent = [
        ...operations.slice(i, i + 99),
        { method: "create", body: { title: "A neighbour" } },
      ];

      const { status, body: { data } } = await org.post(
        "/api/products/batch",
        { operations: sent, return: "minimal" },
      );

      assertEquals(status, 200);
      assertEquals(data.length, sent.length);
      for (const [at, { status }] of data.entries()) {
        assert(status === 201 || status === 400, JSON.stringify(sent[at]));
      }
      assertEquals(data.at(-1).status, 201);
    }
  });

  await it("fail the body of a product, or a tree", async () => {
    const { path } = await org.create({ title: "Emma" });
    const bodies: [string, unknown][] = [
      ...[...mutantsOf(body, 1)].map((body): [string, unknown] => [path, body]),
      ...[...mutantsOf(whole.product_territories, 2)]
        .map((tree): [string, unknown] => [`${path}/territories`, tree]),
      ...[...mutantsOf(whole.product_sales_rights, 2)]
        .map((tree): [string, unknown] => [`${path}/sales-rights`, tree]),
    ];
    for (const [to, body] of bodies) {
      const { status } = await org.put(to, body);

      assert(status === 200 || status === 400, JSON.stringify(body));
    }
  });

  await it("refuse a line of a file alone", async () => {
    const mutants = [...mutantsOf(whole, 1)];
    const lines = mutants.flatMap((mutant) => [
      JSON.stringify({ kind: "product", id: uuidv7(), ...mutant as object }),
      JSON.stringify({ kind: "product", id: uuidv7(), title: "A neighbour" }),
    ]);

    const refused = await imported(
      commandsOn(app)(org.id),
      withHeader(lines.join("\n")),
    );

    const numbers = refused.map((line) => Number(line.split(":")[0]));
    assert(numbers.length > 0);
    assertEquals(numbers.filter((number) => number % 2 === 1), []);
    const [{ count }] = await app.sql`
      select count(*)::int from products
      where organization_id = ${org.id}
    ` as [{ count: number }];
    assert(count >= lines.length - refused.length);
  });

  await it("are not what the service fails at", () => {
    DEFECTS.unsubscribe(note);
    assertEquals(defects, []);
    assertEquals(
      app.logged.filter(({ status }) => Number(status) >= 500),
      [],
    );
  });
});
