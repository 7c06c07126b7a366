import { assert, assertEquals, assertMatch } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { incomingRecordOf } from "../../features/onix/db/in/incoming_record.ts";
import { analyse, AnalysedRecord } from "../../features/onix/db/in/analysed_record.ts";
import type { Element } from "../../features/onix/schema/xml/element.ts";
import { readMessage } from "../../features/onix/schema/xml/read.ts";
import { send } from "../support/app/harness.ts";
import { withPeak } from "../support/app/memory.ts";
import { assertStretches } from "../support/app/stretches.ts";
import { onixClient, type OnixScene, onixTestsOf } from "../support/client/onix.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";

/** A stream of these parts, which says how much of it was read. */
function streamOf(parts: Iterable<string | Uint8Array>) {
  const encoder = new TextEncoder();
  const iterator = parts[Symbol.iterator]();
  let read = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done) return controller.close();
      const bytes = typeof value === "string" ? encoder.encode(value) : value;
      read += bytes.length;
      controller.enqueue(bytes);
    },
  }, { highWaterMark: 0 });
  return { stream, read: () => read };
}

function* repeated(part: string, count: number, before = "", after = "") {
  yield before;
  for (let i = 0; i < count; i++) yield part;
  yield after;
}

const START = message().replace("\n</ONIXMessage>", "");

const MIB = "x".repeat(2 ** 20);

const it = onixTestsOf("A hostile message");

/** Sends the message, and expects a refusal before anything is written. */
async function assertRefused(
  { onix, products }: Pick<OnixScene, "onix" | "products">,
  body: BodyInit,
  code?: string,
): Promise<void> {
  const { status, body: { error } } = await onix.post(body);
  assertEquals([status, error.code], [400, "INVALID_XML"]);
  const [{ pointer, line, column, ...detail }] = error.details;
  assertEquals(pointer, "");
  assert(line >= 1 && column >= 1);
  if (code) assertEquals(detail.code, code);
  assertEquals(await products(), []);
}

const DOCTYPES: Record<string, string> = {
  "billion laughs": `<!DOCTYPE lolz [<!ENTITY lol "lol">${
    Array.from({ length: 9 }, (_, i) => `<!ENTITY lol${i + 1} "${`&lol${i || ""};`.repeat(10)}">`)
      .join("")
  }]><ONIXMessage release="3.0">&lol9;</ONIXMessage>`,
  "external entity":
    `<!DOCTYPE ONIXMessage [<!ENTITY x SYSTEM "file:///etc/passwd">]><ONIXMessage release="3.0">&x;</ONIXMessage>`,
  "DTD at a URL":
    `<!DOCTYPE ONIXMessage SYSTEM "http://127.0.0.1:1/x.dtd"><ONIXMessage release="3.0"></ONIXMessage>`,
};
for (const [name, text] of Object.entries(DOCTYPES)) {
  it(`${name}: its DOCTYPE is refused`, (scene) => assertRefused(scene, text));
}

for (
  const [what, part, start] of [
    ["a million attributes are", " a='1'", `${START}<Product`],
    ["depth is", "<x>", `${START}<Product>`],
  ] as const
) {
  it(`${what} refused early`, async (scene) => {
    const { stream, read } = streamOf(repeated(part, 1_000_000, start));

    await assertRefused(scene, stream);
    assert(read() < 2_000_000);
  });
}

it("what is not XML is refused", async (scene) => {
  for (const text of ["", " ", "{}", "<", "\0", "PK\u0003\u0004"]) {
    await assertRefused(scene, text);
  }
});

it("a text node of 60 MB rejects its record in bounded memory", async ({ onix }) => {
  const { stream } = streamOf(
    repeated(
      MIB,
      60,
      `${START}<Product><RecordReference>`,
      "</RecordReference></Product></ONIXMessage>",
    ),
  );

  const [report, bytes] = await withPeak(() => onix.report(stream));

  assertEquals([report.records, report.rejected], [1, 1]);
  assert(bytes < 120e6, `${bytes} bytes`);
});

it("a message that never ends is cut at its limit", async ({ org, app }) => {
  const handler = app.variant({ maxOnixBytes: 2 ** 22 });
  const { stream, read } = streamOf((function* () {
    yield START;
    while (true) yield MIB.replaceAll("x", " ");
  })());

  const { status, body: { error } } = await onixClient(
    { send: (path, init) => send(handler, path, init) },
    org,
  ).post(stream);

  assertEquals([status, error.code], [413, "PAYLOAD_TOO_LARGE"]);
  assert(read() < 2 ** 23);
});

it("a message that stalls gets 408", async ({ org, app }) => {
  const handler = app.variant({ bodyTimeoutMs: 50 });
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(START));
    },
  });

  const { status } = await send(handler, "/api/onix/products", {
    method: "POST",
    headers: { "x-api-key": org.key, "content-type": "application/xml" },
    body: stream,
  });

  assertEquals(status, 408);
});

it("what precedes a fault stays written, and is reported", async ({ org, onix }) => {
  const bad = new Uint8Array([
    ...new TextEncoder().encode("<Product>"),
    0xff,
  ]);
  const whole = message(
    record(),
    record({ reference: "r2", isbn: isbnOf(2) }),
  )
    .replace("</ONIXMessage>", "");
  const { stream } = streamOf([whole, bad, MIB]);

  const { status, body: { error } } = await onix.post(stream);

  assertEquals([status, error.code], [400, "INVALID_XML"]);
  assertEquals(error.report.created, 2);
  assert(error.details[0].line > 1);
  assertEquals((await org.get("/api/products")).body.meta.total, 2);
  const again = await onix.report(message(
    record(),
    record({ reference: "r2", isbn: isbnOf(2) }),
    record({ reference: "r3", isbn: isbnOf(3) }),
  ));
  assertEquals([again.unchanged, again.created], [2, 1]);
});

it("a torn record changes nothing of its product", async ({ org, onix }) => {
  const whole = record({ reference: "torn" });
  const { outcomes: [{ id }] } = await onix.report(message(whole));
  const read = async () => (await org.get(`/api/products/${id}`)).body.data;
  const before = await read();
  const upTo = (end: string) => whole.slice(0, whole.indexOf(end));

  // `read_test.ts` tears records elsewhere.
  for (
    const torn of [
      `${upTo("<PublishingDetail>")}</DescriptiveDetail></ONIXMessage>`,
      upTo("</Product>"),
    ]
  ) {
    const sent = message(
      record({ reference: "first", isbn: isbnOf(9) }),
      torn,
    )
      .replace(/<\/ONIXMessage>\s*$/, "");

    const { status, body: { error } } = await onix.post(sent);

    assertEquals([status, error.code], [400, "INVALID_XML"]);
    assertEquals(error.report.records, 1);
    assertEquals(error.report.outcomes.length <= 1, true);
    assertEquals(await read(), before);
  }
});

it("a long reference is cut off in the report", async ({ onix }) => {
  const report = await onix.report(
    message(record({ reference: "r".repeat(500_000) })),
  );

  assertEquals(report.rejected, 1);
  assertEquals(report.outcomes[0].record_reference.length, 500);
});

/** Turns of the embedded database count too. What was quadratic worked for a minute. */
const MAX_TURN_MS = 2_000;

it("a record of markup, and one of zeros, leave others their turns", async ({ onix }) => {
  const text = (text: string) =>
    record({ reference: "text", isbn: isbnOf(10) }).replace(
      "<PublishingDetail>",
      `<CollateralDetail><TextContent><TextType>03</TextType><ContentAudience>00</ContentAudience><Text>${text}</Text></TextContent></CollateralDetail>$&`,
    );
  const large = {
    markup: text("<b></b>".repeat(70_000)),
    zeros: record({
      reference: "zeros",
      isbn: isbnOf(11),
      price: `${"0".repeat(500_000)}1`,
    }),
  };

  for (const [what, one] of Object.entries(large)) {
    await assertStretches(what, async () => {
      assertEquals((await onix.report(message(one))).rejected, 0);
    }, MAX_TURN_MS);
  }
});

it("imports that arrive slowly leave others memory", async ({ org, onix }) => {
  const end = Promise.withResolvers<void>();
  const slow = () =>
    new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(START));
        await end.promise;
        controller.enqueue(new TextEncoder().encode("</ONIXMessage>"));
        controller.close();
      },
    });
  const imports = Array.from(
    { length: 8 },
    () => onix.post(slow()),
  );

  const { status } = await org.post("/api/products", {
    title: "Written",
    collateral: Array.from({ length: 9 }, () => ({
      collateral_type: "text_content",
      text: "x".repeat(99_000),
    })),
  });
  const report = await onix.report(message(record()));

  assertEquals([status, report.created], [201, 1]);
  end.resolve();
  for (const { status } of await Promise.all(imports)) {
    assertEquals(status, 200);
  }
});

it("URLs lose a user and a password, with a warning", async ({ org, onix, sql }) => {
  const resource =
    `<CollateralDetail><SupportingResource><ResourceContentType>01</ResourceContentType><ContentAudience>00</ContentAudience><ResourceMode>03</ResourceMode><ResourceVersion><ResourceForm>02</ResourceForm><ResourceLink>https://me:secret@cdn.example/cover.jpg</ResourceLink></ResourceVersion></SupportingResource></CollateralDetail>`;

  const report = await onix.report(
    message(
      record().replace("<PublishingDetail>", `${resource}<PublishingDetail>`),
    ),
  );

  const [{ id, messages }] = report.outcomes;
  assert(
    messages.some(({ severity }: { severity: string }) => severity === "warning"),
  );
  assert(!JSON.stringify(report).includes("secret"));
  const { body: { data } } = await org.get(`/api/products/${id}`);
  assertEquals(data.cover_image_url, "https://cdn.example/cover.jpg");
  assert(!(await onix.xml(`/${id}`)).includes("secret"));
  const [stored] = await sql`select record from onix_records where organization_id = ${org.id}`;
  assertMatch(stored!.record, /https:\/\/cdn\.example/);
  assert(!stored!.record.includes("secret"));
});

it("is written in groups of 2,500 contributors", async ({ org, onix }) => {
  const contributors = Array.from({ length: 500 }, (_, i) => `Jane ${i}`);
  const records = [1, 2, 3, 4, 5, 6].map((i) =>
    record({ reference: `${i}`, isbn: isbnOf(i), contributors })
  );
  await onix.report(message(...records));

  const { body: { data } } = await org.get("/api/history");
  const transactions = new Set(data.map(({ version }: { version: string }) => version));
  assertEquals([data.length, transactions.size], [6, 2]);
});

Deno.test("The analysis of a record keeps nothing of its message", async () => {
  const prose = "abcdefgh ".repeat(600);
  const records = function* () {
    for (let i = 0; i < 2_000; i++) {
      yield record({
        reference: `press.example.number.${i}`,
        isbn: isbnOf(i),
        more: `</DescriptiveDetail><CollateralDetail><TextContent><TextType>03</TextType>` +
          `<ContentAudience>00</ContentAudience><Text>${prose}${i}</Text></TextContent>` +
          `</CollateralDetail><DescriptiveDetail>`,
      });
    }
  };
  const { stream } = streamOf([START, ...records(), "</ONIXMessage>"]);
  const kept: unknown[] = [];
  let header: Element | undefined;
  const before = usedAfterCollection();
  for await (const part of readMessage(stream, { charset: undefined })) {
    if (part.kind === "header") header = part.header;
    if (part.kind !== "product") continue;
    const item = analyse(incomingRecordOf(part.product, header!), new Map());
    assert(item instanceof AnalysedRecord);
    kept.push(item.analysis);
  }

  assertEquals(kept.length, 2_000);
  const used = usedAfterCollection() - before;
  // The message has 13 MiB.
  assert(used < 6 * 2 ** 20, `${used} bytes`);
});

/** The size of the heap after a garbage collection. */
function usedAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return Deno.memoryUsage().heapUsed;
}
