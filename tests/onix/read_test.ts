import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { childValue, element } from "../../features/onix/schema/xml/element.ts";
import { fromStored, type Part, readMessage } from "../../features/onix/schema/xml/read.ts";
import { sentOf } from "../../features/onix/schema/xml/sent.ts";
import { XmlError } from "../../features/onix/schema/xml/xml_error.ts";
import { toStored } from "../../features/onix/schema/xml/write.ts";
import { message, read } from "./support.ts";

const HEAD = '<ONIXMessage release="3.0"><Header/>';
const END = "</ONIXMessage>";

function record(reference: string, content = ""): string {
  return `<Product><RecordReference>${reference}</RecordReference>${content}</Product>`;
}

/** What was read, a word a part: a record by its reference. */
function shown(parts: Part[]): string[] {
  return parts.map((part) => {
    if (part.kind === "product") {
      return childValue(part.product, "RecordReference")!;
    }
    return part.kind === "header" ? part.kind : `${part.reference}: ${part.code}`;
  });
}

async function refusal(...chunks: (string | Uint8Array)[]): Promise<XmlError> {
  return await assertRejects(() => read(chunks), XmlError);
}

/** The text in an encoding of one or two bytes a character. */
function encoded(text: string, order?: "little" | "big"): Uint8Array {
  const codes = [...text].map((character) => character.charCodeAt(0));
  if (!order) return new Uint8Array(codes);
  return new Uint8Array(
    codes.flatMap((code) => order === "little" ? [code & 255, code >> 8] : [code >> 8, code & 255]),
  );
}

/** A text of so many mebibytes, in chunks. */
function* large(
  start: string,
  filling: string,
  mebibytes: number,
  end: string,
) {
  yield start;
  const chunk = filling.repeat(Math.ceil(65_536 / filling.length));
  for (let i = 0; i < mebibytes * 16; i++) yield chunk;
  yield end;
}

Deno.test("An ONIX message", async (t) => {
  await t.step("is read in reference names, whatever its tags", async () => {
    const text =
      '<ONIXmessage release="3.1" xmlns="http://ns.editeur.org/onix/3.1/short"><product><a001>1</a001><productidentifier><b221>15</b221></productidentifier></product></ONIXmessage>';
    const [, part] = await read([text]);
    assert(part?.kind === "product");
    const { name, children } = part.product;
    assertEquals(
      [name, ...children.map((child) => child.name)],
      ["Product", "RecordReference", "ProductIdentifier"],
    );
    assertEquals(childValue(children[1]!, "ProductIDType"), "15");
  });

  await t.step("is read whatever its namespaces", async () => {
    const text =
      `<o:ONIXMessage xmlns:o="http://ns.editeur.org/onix/3.0/reference"><o:Product><RecordReference xmlns="urn:other">1</RecordReference></o:Product></o:ONIXMessage>`;
    assertEquals(shown(await read([text])), ["header", "1"]);
  });

  await t.step("has lines", async () => {
    const parts = await read([
      `${HEAD}\n\n${record("1")}\n${record("2")}${END}`,
    ]);
    assertEquals(
      parts.map((part) => part.kind === "product" && part.product.line),
      [false, 3, 4],
    );
  });

  await t.step("may arrive in any chunks", async () => {
    const text = message(record("é😀", "<A><![CDATA[<b>]]> &amp; &#233;</A>"));
    const bytes = [...new TextEncoder().encode(text)];
    const [, part] = await read(bytes.map((byte) => new Uint8Array([byte])));
    assert(part?.kind === "product");
    assertEquals(childValue(part.product, "RecordReference"), "é😀");
    assertEquals(childValue(part.product, "A"), "<b> & é");
  });

  await t.step("keeps XHTML as text", async () => {
    const text = message(record(
      "1",
      '<CollateralDetail><TextContent><Text textformat="05">a &lt; <h:p xmlns:h="http://www.w3.org/1999/xhtml" class="x">b<h:br/></h:p></Text></TextContent></CollateralDetail>',
    ));
    const [, part] = await read([text]);
    assert(part?.kind === "product");
    const found = part.product.children[1]!.children[0]!.children[0]!;
    assertEquals(found.text, 'a &lt; <p class="x">b<br/></p>');
    assertEquals(found.markup, true);
  });

  await t.step("is decoded as declared", async () => {
    const latin = (encoding: string) =>
      `<?xml version="1.0" encoding="${encoding}"?>${HEAD}${record("é")}${END}`;
    const cases: [Uint8Array, string?][] = [
      [encoded(latin("ISO-8859-1"))],
      [encoded(latin("windows-1252"))],
      [encoded(`\ufeff${latin("UTF-16")}`, "little")],
      [encoded(latin("UTF-16"), "big")],
      [encoded(HEAD + record("é") + END), "iso-8859-1"],
      [new TextEncoder().encode(`\ufeff${latin("ISO-8859-1")}`)],
    ];
    for (const [bytes, charset] of cases) {
      assertEquals(shown(await read([bytes], charset)), ["header", "é"]);
    }
  });

  await t.step("is told that it is not in UTF-16, which .NET declares", async () => {
    const text = `<?xml version="1.0" encoding="utf-16"?>${HEAD}${record("1")}${END}`;
    // An odd number of bytes cannot be UTF-16, an even one can be.
    for (const each of [text, `${text}\n`]) {
      const { code, message } = await refusal(each);
      assertEquals(code, "invalid_encoding");
      assertStringIncludes(message, "The bytes are not UTF-16: declare the encoding");
      assertStringIncludes(message, 'encoding="UTF-8"');
    }
  });

  await t.step("was sent at a time of ISO 8601, or at none that is known", () => {
    const cases: Record<string, string | null> = {
      "20260101": "2026-01-01T23:59:59.999Z",
      "20260101T12": "2026-01-01T12:00:00.000Z",
      "20260101T1230": "2026-01-01T12:30:00.000Z",
      "2026-01-01T12:30:15Z": "2026-01-01T12:30:15.000Z",
      "20260101T1230+0130": "2026-01-01T11:00:00.000Z",
      "20260101T1230-05": "2026-01-01T17:30:00.000Z",
      "20260101T2400Z": "2026-01-02T00:00:00.000Z",
      "20260101T235960Z": "2026-01-02T00:00:00.000Z",
      "20260101T2430Z": null,
      "20260101T240001Z": null,
      "20260101T2500Z": null,
      "20260101T1260Z": null,
      "20260101T1230+9999": null,
      "20260101T1230+0160": null,
      "20260230": null,
      "00500101": null,
      yesterday: null,
    };
    for (const [time, expected] of Object.entries(cases)) {
      const { at } = sentOf(element("Header", [element("SentDateTime", time)]));
      assertEquals(at === null ? null : new Date(at).toISOString(), expected, time);
    }
  });

  await t.step("is refused where it cannot be read", async () => {
    const deep = "<a>".repeat(70);
    const attributes = Array.from({ length: 65 }, (_, i) => ` a${i}=""`);
    const cases: Record<string, string[]> = {
      not_well_formed: [
        "",
        "text",
        `${HEAD}<Product></Produkt>${END}`,
        `${HEAD}<Product>`,
        `${HEAD}<Product>&nbsp;</Product>${END}`,
        `${HEAD}<Product a="1" a="2"/>${END}`,
      ],
      doctype: [
        `<!DOCTYPE ONIXMessage [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${HEAD}${END}`,
        `<!DOCTYPE ONIXMessage SYSTEM "file:///etc/passwd">${HEAD}${END}`,
      ],
      too_deep: [`${HEAD}<Product>${deep}`],
      too_many_attributes: [`${HEAD}<Product${attributes.join("")}/>${END}`],
      not_onix: ["<rss/>", "<Product/>"],
      unsupported_release: [
        '<ONIXMessage release="2.1"/>',
        '<ONIXMessage xmlns="http://www.editeur.org/onix/2.1/reference"/>',
        '<!DOCTYPE ONIXMessage SYSTEM "http://www.editeur.org/onix/2.1/reference/onix-international.dtd"><ONIXMessage/>',
        "<ONIXMessage/>",
        '<ONIXMessage release="4.0"/>',
      ],
      unsupported_encoding: ["EBCDIC", "constructor"].map((encoding) =>
        `<?xml version="1.0" encoding="${encoding}"?><a/>`
      ),
    };
    for (const [code, texts] of Object.entries(cases)) {
      for (const text of texts) {
        assertEquals((await refusal(text)).code, code, text.slice(0, 80));
      }
    }
    const { message } = await refusal('<ONIXMessage release="2.1"/>');
    assertEquals(message, "Expected ONIX 3.0 or 3.1, not 2.1");
  });

  await t.step("counts up to where it cannot be read", async () => {
    const parts: Part[] = [];
    const bytes = [
      new TextEncoder().encode(`${HEAD}\n${record("1")}\n`),
      new Uint8Array([0x3c, 0x41, 0xff]),
    ];
    const error = await assertRejects(async () => {
      for await (const part of readMessage(streamOf(bytes))) parts.push(part);
    }, XmlError);
    assertEquals(error.code, "invalid_encoding");
    assertEquals(error.line, 3);
    assertEquals(shown(parts), ["header", "1"]);
  });

  await t.step("counts no record that a wrong end tag ends", async () => {
    const before = "<DescriptiveDetail><ProductForm>BC</ProductForm>";
    for (
      const torn of [
        `${record("2").replace("</Product>", END)}`,
        `${record("2").replace("</Product>", "</Prduct>")}${END}`,
        `${record("2").replace("</Product>", "</DescriptiveDetail>")}${END}`,
        `${record("2", before).replace("</Product>", "")}${END}`,
        `${record("2", before)}${END}`,
        record("2").replace("</Product>", ""),
        record("2").replace("</Product>", "</Product"),
        record("2").replace("</Product>", "</Product x>"),
      ]
    ) {
      const bytes = new TextEncoder().encode(HEAD + record("1") + torn);
      // The parser may find out within a chunk, or at its end.
      for (const size of [1, 7, bytes.length]) {
        const parts: Part[] = [];
        const error = await assertRejects(async () => {
          for await (const part of readMessage(inChunks(bytes, size))) {
            parts.push(part);
          }
        }, XmlError);
        assertEquals(error.code, "not_well_formed");
        assertEquals(shown(parts), ["header", "1"], torn);
      }
    }
  });

  await t.step("has names of at most 100 characters", async () => {
    const longest = "a".repeat(100);
    const [, part] = await read([
      `${HEAD}${record("1", `<${longest}>x</${longest}>`)}${END}`,
    ]);
    assert(part?.kind === "product");
    assertEquals(childValue(part.product, longest), "x");
    const error = await refusal(
      `${HEAD}${record("1", `<${longest}a>x</${longest}a>`)}${END}`,
    );
    assertEquals(error.code, "too_long");
  });

  await t.step("has controls as characters of Windows-1252", async () => {
    const [, part] = await read([
      message(record("1", "<A>\u0093a\u0094 &#146; \u0081</A><B>é</B>")),
    ]);
    assert(part?.kind === "product");
    const [, a, b] = part.product.children;
    assertEquals([a!.text, a!.recoded], ["“a” ’ \u0081", true]);
    assertEquals([b!.text, b!.recoded], ["é", undefined]);
  });

  await t.step("gives others their turn within a record", async () => {
    let turns = 0;
    const text = message(record("1", "<A>1</A>".repeat(64_000)));
    const pace = () => {
      turns++;
      return Promise.resolve();
    };
    const bytes = new TextEncoder().encode(text);
    for await (const _ of readMessage(inChunks(bytes, 2 ** 20), { pace }));
    assert(turns >= text.length / 70_000, String(turns));
  });

  await t.step("does not read a long record without its end", async () => {
    const text = `${HEAD}${record("1")}<Product>${"<A>1</A>".repeat(40_000)}`;
    for (const end of ["", "</Prduct>", "</ONIXMessage>"]) {
      const parts: Part[] = [];
      const bytes = new TextEncoder().encode(text + end);
      const reading = async () => {
        for await (const part of readMessage(inChunks(bytes, 2 ** 20))) {
          parts.push(part);
        }
      };
      await assertRejects(reading, XmlError);
      assertEquals(parts.map(({ kind }) => kind), ["header", "product"]);
    }
  });

  await t.step("loses a record alone that is too large", async () => {
    const start = `${HEAD}${record("1")}<Product><RecordReference>2</RecordReference>`;
    const end = `</Product>${record("3")}${END}`;
    const cases = [
      large(`${start}<A>`, "x", 6, `</A>${end}`),
      large(`${start}<A><![CDATA[`, "x", 6, `]]></A>${end}`),
      large(start, "<a>1</a>", 6, end),
      large(`${start}<A b="`, "x", 6, `"/>${end}`),
    ];
    for (const chunks of cases) {
      assertEquals(
        shown(await read(chunks)),
        ["header", "1", "2: too_large", "3"],
      );
    }
  });

  await t.step(
    "may be stored in more characters than it arrived in",
    async () => {
      const text = "&".repeat(400_000);
      const [, part] = await read([
        `${HEAD}${record("1", `<A><![CDATA[${text}]]></A>`)}${END}`,
      ]);
      assert(part?.kind === "product");
      const stored = fromStored(toStored(part.product));
      assertEquals(childValue(stored, "A"), text);
    },
  );

  await t.step("has at most 1,000 records that say nothing", async () => {
    const empty = "<Product/>".repeat(400) +
      "<Product>x</Product>".repeat(300) +
      `<Product><A a="1"/></Product>`.repeat(299);
    const most = HEAD + empty + record("1") + record("2", record("inner"));
    assertEquals(
      shown(await read([`${most}<Product/>${END}`])).slice(1000, 1002),
      ["1", "2: nested_record"],
    );
    const nested = "<Product><Product/></Product>";
    const error = await refusal(`${most}${nested}<Product/>${END}`);
    assertEquals(error.code, "too_many_empty");
  });

  await t.step("may have long white space and comments", async () => {
    const start = `${HEAD}${record("1")}`;
    const end = `${record("2")}${END}`;
    for (
      const chunks of [
        large(start, " ", 6, end),
        large(`${start}<!--`, "x", 6, `-->${end}`),
      ]
    ) assertEquals(shown(await read(chunks)), ["header", "1", "2"]);
  });

  await t.step("is refused for a name without an end", async () => {
    const error = await assertRejects(
      () => read(large(`${HEAD}<`, "x", 1, `/>${END}`)),
      XmlError,
    );
    assertEquals(error.code, "too_long");
  });

  await t.step("loses a record alone that contains a record", async () => {
    const text = HEAD + record("1", record("inner")) +
      record("2", `<RelatedMaterial>${record("inner")}</RelatedMaterial>`) +
      record("3") + END;
    assertEquals(
      shown(await read([text])),
      ["header", "1: nested_record", "2: nested_record", "3"],
    );
  });
});

async function* inChunks(bytes: Uint8Array, size: number) {
  await Promise.resolve();
  for (let i = 0; i < bytes.length; i += size) {
    yield bytes.subarray(i, i + size);
  }
}

async function* streamOf(chunks: Uint8Array[]) {
  await Promise.resolve();
  yield* chunks;
}
