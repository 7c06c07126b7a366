import { assert, assertEquals } from "@std/assert";
import { exportMessage } from "../../features/onix/db/out/export.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { logDefects } from "../../middleware/log.ts";
import { MAPPING } from "../../features/onix/schema/mapping/mapping.ts";
import { ARRAYS } from "../../schema/product.ts";
import { openApp } from "../support/app/harness.ts";
import { settled } from "../support/app/settled.ts";
import { onixClient } from "../support/client/onix.ts";
import { assertDetails } from "../support/client/expect.ts";
import { commandsOn, imported, withHeader } from "../support/client/transfer.ts";
import { message, productsIn, record } from "../support/data/onix.ts";

/* What the service fails at is the fault of that alone. The tests break the service for it. */

/** Makes a method throw wherever its arguments say the word, until it is disposed of. */
function broken<K extends string>(
  // deno-lint-ignore no-explicit-any
  object: { [name in K]: (...given: any[]) => any },
  method: K,
): Disposable {
  const works = object[method];
  object[method] = (...given) => {
    if (JSON.stringify(given[0])?.includes(WORD)) throw new TypeError(SECRET);
    return works(...given);
  };
  return { [Symbol.dispose]: () => void (object[method] = works) };
}

const WORD = "breaking";
const SECRET = "a message that may quote what clients send";

const logged: Record<string, unknown>[] = [];
logDefects((level, fields) => logged.push({ level, ...fields }));

/** Expects that failures have been logged, without what clients sent. */
function assertLogged(): void {
  const lines = logged.splice(0);
  assert(lines.length > 0);
  for (const { level, message } of lines) {
    assertEquals([level, message], ["error", "The service failed"]);
  }
  const text = JSON.stringify(lines);
  assert(text.includes("TypeError") && text.includes(" (file://"), text);
  assert(!text.includes(SECRET) && !text.includes(WORD), text);
}

Deno.test("What the service fails at", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const onix = onixClient(app, org);
  const odd = {
    title: "Emma",
    subjects: [{
      subject_scheme_identifier: "20",
      subject_heading_text: WORD,
    }],
  };
  const plain = { title: "Persuasion" };
  const [rule] = ARRAYS.subjects.rules!.slice(1);
  const pointer = "/subjects/0/subject_code";

  await it("as a rule is the fault of its own field", async () => {
    using _ = broken(rule!, "check");

    assertDetails(await org.post("/api/products", odd), [
      pointer,
      "internal_error",
    ]);
    assertLogged();
  });

  await it("is the fault of an operation alone", async () => {
    using _ = broken(rule!, "check");
    const operations = [odd, plain].map((body) => ({ method: "create", body }));

    const { status, body: { data } } = await org.post("/api/products/batch", {
      operations,
    });

    assertEquals(status, 200);
    assertEquals(data.map(({ status }: { status: number }) => status), [
      400,
      201,
    ]);
    assertLogged();
  });

  await it("is the fault of a line alone", async () => {
    using _ = broken(rule!, "check");
    const lines = [odd, plain].map((body) =>
      JSON.stringify({ kind: "product", id: uuidv7(), ...body })
    );

    const refused = await imported(
      commandsOn(app)(org.id),
      withHeader(lines.join("\n")),
    );

    assertEquals(refused.map((line) => line.split(": ", 2)), [
      ["2", pointer],
    ]);
    assertLogged();
  });

  const subject =
    `<Subject><SubjectSchemeIdentifier>20</SubjectSchemeIdentifier><SubjectHeadingText>${WORD}</SubjectHeadingText></Subject>`;
  const records = [
    record({ reference: "odd", isbn: null, more: subject }),
    record({ reference: "plain", isbn: null }),
  ];
  const outcomes = async (...all: string[]) => {
    const report = await onix.report(message(...all));
    return Object.fromEntries(
      report.outcomes.map(({ record_reference, outcome, messages }: {
        record_reference: string;
        outcome: string;
        messages: { code: string }[];
      }) => [record_reference, [outcome, ...messages.map(({ code }) => code)]]),
    );
  };

  await it("as a rule is a warning of the part of a record", async () => {
    using _ = broken(rule!, "check");

    assertEquals(await outcomes(records[0]!), {
      odd: ["created", "internal_error"],
    });
    assertLogged();
  });

  for (
    const [what, method, isOld] of [
      ["reading", "read", false],
      ["comparing", "project", true],
    ] as const
  ) {
    await it(`is the fault of a record alone, in ${what}`, async () => {
      using _ = broken(MAPPING.subjects!, method);

      assertEquals(
        await outcomes(
          ...records.map((text) => text.replace("Emma", `Emma, by ${what}`)),
        ),
        {
          odd: ["rejected", "internal_error"],
          plain: [isOld ? "updated" : "created"],
        },
      );
      assertLogged();
    });
  }

  await it("is left out of the feed and of an export, which go on", async () => {
    const other = await app.organization();
    const client = onixClient(app, other);
    const { outcomes } = await client.report(
      message(
        ...["odd", "plain"].map((reference) => record({ reference, isbn: null })),
      ),
    );
    const [odd] = outcomes;
    await app.sql`
      update onix_records set record = '<Product' where product_id = ${odd.id}
    `;

    await settled(app.sql);

    const [left, ...more] = await client.feed(1);

    assertEquals(more, []);
    assert(left!.includes(">plain<"), left);
    const products = logged.splice(0).map(({ product }) => product);
    assertEquals(new Set(products), new Set([odd.id]));
    let text = "";
    const { failed } = await exportMessage(commandsOn(app)(other.id), {
      release: "3.1",
      tags: "reference",
      write: (part) => Promise.resolve(void (text += part)),
    });
    assertEquals([failed, productsIn(text).length], [1, 1]);
    logged.length = 0;
    assertEquals((await other.get(`/api/onix/products/${odd.id}`)).status, 500);

    // Whoever asks which are ready is told of it.
    logged.length = 0;
    const readiness = "readiness?profile=bic-basic";
    const { status, body, text: listed } = await other.get(`/api/products/${readiness}`);
    assertEquals(status, 200, listed);
    assertEquals([body.data.length, body.meta.checked, body.meta.more], [2, 2, false]);
    const { ready, missing } = body.data.find(({ id }: { id: string }) => id === odd.id);
    assertEquals([ready, ...missing.map(({ rule }: { rule: string }) => rule)], [
      false,
      "internal_error",
    ]);
    assertEquals(logged.splice(0).map(({ product }) => product), [odd.id]);
    const { body: one } = await other.get(`/api/products/${odd.id}/${readiness}`);
    assertEquals(one.data.missing, missing);
    logged.length = 0;
  });
});
