import { assertEquals } from "@std/assert";
import { readMessage } from "../../features/onix/schema/xml/read.ts";
import { XmlError } from "../../features/onix/schema/xml/xml_error.ts";

/*
 * What people write that is not XML, with the place of the fault (¦) and what they are told.
 * The lines are those of xmllint, which tells of an end tag at its end.
 */

const START = '<ONIXMessage release="3.1">\n<Header/>\n';
const END = "</ONIXMessage>";

/** Faults within a record, which begins in line 3. */
// deno-fmt-ignore
const IN_RECORDS: [content: string, message: string][] = [
  ["<A>Salt ¦& Pepper</A>", "The character & must be written as &amp;"],
  [`<A>Salt ¦& Pepper</A>${"\n<B>x</B>".repeat(4_000)}`, "The character & must be written as &amp;"],
  ["<A>Marks ¦&amp Spencer</A>", "The character & must be written as &amp;"],
  ["<A>https://a.example/?a=1¦&b=2</A>", "The character & must be written as &amp;"],
  ['<A sourcename="Salt ¦& Pepper">1</A>', "The character & must be written as &amp;"],
  ["<A>AT¦&T</A>\n<B>a;b</B>", "The character & must be written as &amp;"],
  ["<A><![CDATA[R&D]]> ¦& more</A>", "The character & must be written as &amp;"],
  ["<A>Caf¦&eacute;</A>", "XML does not know &eacute;: write the character itself, or &amp; for the character &"],
  ["<A>a¦&#11;b</A>", "XML cannot hold the character &#11;: remove it"],
  ["<A>a ¦< b</A>", "The character < must be written as &lt;"],
  ["<A>under ¦<5</A>", "The character < must be written as &lt;"],
  ["<A>under ¦<\n5</A>", "The character < must be written as &lt;"],
  ['<A sourcename="a¦<b">1</A>', "The character < must be written as &lt;"],
  ["<A>😀 x <b ¦= c</A>", "Expected > or an attribute in <b>: write &lt; for a < that begins no tag"],
  ["<A>x <b c¦</A>", 'Expected > or an attribute in <b>: write &lt; for a < that begins no tag'],
  ["<A¦<B>1</B></A>", "Expected > or an attribute after <A: write &lt; for a < that begins no tag"],
  ["<A textformat=¦05>1</A>", 'The attribute textformat of <A> must have its value in straight quotes: textformat="…"'],
  ["<A textformat=¦“05”>1</A>", 'The attribute textformat of <A> must have its value in straight quotes: textformat="…"'],
  ["<A textformat¦>1</A>", 'The attribute textformat of <A> has no value: write textformat="…", or &lt; for a < that begins no tag'],
  ['<A a="1" a="2"¦>1</A>', "<A> has the attribute a twice"],
  ['<A a="1"¦b="2">1</A>', "Expected a space between the attributes of <A>"],
  ["<A /¦ >1</A>", "Expected > after the / of <A/>"],
  ["<Title>\n1\n¦</Titel>", "Expected </Title>, the end of <Title> in line 4, not </Titel>"],
  ["<Title>1¦</title >", "Expected </Title>, the end of <Title> in line 4, not </title >"],
  ["<Title\n a=\"1\">\n<A>1</A>\n¦</Product>", "Expected </Title>, the end of <Title> in line 4, not </Product>"],
  ["<A><B>1¦</A></B>", "Expected </B>, the end of <B> in line 4, not </A>"],
  ["¦</A>", "Expected </Product>, the end of <Product> in line 3, not </A>"],
  ["<A>1¦</>", "Expected the name of an element in </>"],
  ["<A>1</A ¦x>", "Expected > after the name of an end tag"],
  ["<A>1\t¦\u000b</A>", "XML cannot hold the character U+000B: remove it"],
  ["<A>1¦\0</A>", "XML cannot hold the character U+0000: remove it"],
  ["<A>1¦]]></A>", "The characters ]]> must be written as ]]&gt;"],
  ["<!-- a --¦ b -->", "A comment must not contain --"],
  ["¦<!DATA[x]]>", "The character < must be written as &lt;"],
];

/** Faults of messages. */
// deno-fmt-ignore
const MESSAGES: [text: string, message: string][] = [
  [`${START}<Product>\n<A>1</A>\n¦`, "The message ends within <Product> of line 3: it was cut off, or </Product> is missing"],
  [`${START}<Product>\n<A>1¦`, "The message ends within <A> of line 4: it was cut off, or </A> is missing"],
  [`${START}<Product>\n<Ti¦`, "The message ends within <Product> of line 3: it was cut off, or </Product> is missing"],
  [`${START}${END}<!-- a¦`, "The message ends within a comment or a tag"],
  [`\n¦<?xml version="1.0"?>${START}${END}`, 'Expected an XML declaration as <?xml version="1.0" encoding="UTF-8"?>, at the very beginning'],
  [`¦<?xml encoding="UTF-8"?>${START}${END}`, 'Expected an XML declaration as <?xml version="1.0" encoding="UTF-8"?>, at the very beginning'],
  ["¦", "The message is empty: expected XML that begins with <ONIXMessage>"],
  ['¦{"title": "A"}', "Expected XML that begins with <ONIXMessage>, not text"],
  [`${START}${END}\n¦text`, "The message goes on after its end: remove what follows"],
  [`${START}${END}\n¦${START}${END}`, "A second message begins here: send one at a time"],
  [`${START}${END}\n¦</A>`, "</A> ends nothing: its start tag is missing"],
];

function inRecord(content: string): string {
  return `${START}<Product>\n${content}</Product>${END}`;
}

const CASES = [
  ...IN_RECORDS.map(([content, message]) => [inRecord(content), message]),
  ...MESSAGES,
] as [text: string, message: string][];

Deno.test("A fault of XML is told where it stands, with what to write", async (t) => {
  for (const [text, message] of CASES) {
    await t.step(message, async () => {
      assertEquals(
        await faultIn(new TextEncoder().encode(text.replace("¦", ""))),
        {
          code: "not_well_formed",
          message,
          ...placeOf(text),
        },
      );
    });
  }

  await t.step("that is of another encoding", async () => {
    const [before = "", after = ""] = inRecord("<A>é, Caf¦é</A>").split("¦");
    const latin = Uint8Array.from(
      after,
      (character) => character.charCodeAt(0),
    );
    const { line, column, code } = await faultIn(
      new TextEncoder().encode(before),
      latin,
    );
    assertEquals({ code, line, column }, {
      code: "invalid_encoding",
      ...placeOf(`${before}¦`),
    });
  });

  await t.step(
    "that is of another encoding, in a piece that begins within a character",
    async () => {
      const [before = "", after = ""] = inRecord("<A>é, Caf¦é</A>").split("¦");
      const bytes = [...new TextEncoder().encode(before)];
      const half = bytes.splice(bytes.indexOf(0xc3) + 1);
      const latin = [...after].map((character) => character.charCodeAt(0));
      const { line, column, code } = await faultIn(
        Uint8Array.from(bytes),
        Uint8Array.from([...half, ...latin]),
      );
      assertEquals({ code, line, column }, {
        code: "invalid_encoding",
        ...placeOf(`${before}¦`),
      });
    },
  );
});

async function faultIn(...chunks: Uint8Array[]) {
  async function* stream() {
    await Promise.resolve();
    yield* chunks;
  }
  try {
    for await (const _ of readMessage(stream()));
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    const { code, message, line, column } = error;
    return { code, message, line, column };
  }
  throw new Error("The message was read");
}

function placeOf(text: string) {
  const lines = text.slice(0, text.indexOf("¦")).split("\n");
  return { line: lines.length, column: [...lines.at(-1)!].length + 1 };
}
