import { assertEquals } from "@std/assert";
import { type Part, readMessage } from "../../features/onix/schema/xml/read.ts";
import { XmlError } from "../../features/onix/schema/xml/xml_error.ts";
import { IS_WHOLE_ON_EMBEDDED } from "../support/app/sample.ts";
import { SAMPLES } from "./support.ts";

/*
 * A message arrives in pieces, and a piece may end anywhere. What is read, and where a fault
 * is told, must not depend on that.
 */

/** What a tag, a text, a comment or a fault may be cut in. */
const CONTENTS = [
  "<A>a</A><!-- b --><B/>",
  "<A>a<!--b-->c</A>",
  "<!----><A><![CDATA[<b>]] ]]]>&amp;&#233;&#xe9;</A><!-- & < -->",
  "<A><![CDATA[R&D <]]></A><?a & < b?>",
  "<A>\r\né😀\r\r\n</A >",
  '<A\n sourcename="a &amp;\n b"\r\n textformat=\'05\'>x<p class="1">y<br/></p></A>',
  "<A>]] > ]]&gt;</A>",
  "<A>Salt & Pepper</A>",
  "<A>a\r&\rb</A>",
  "<A>&eacute;</A>",
  "<A>a\n < b</A>",
  "<A>a</B >",
  "<A a=b>",
  "<A>]]></A>",
  "<A>\u000b</A>",
  "<!-- a -- b -->",
];

const RECORD = "<RecordReference>1</RecordReference>";

function messageWith(content: string): string {
  return `<?xml version="1.0"?>\n<!-- a -->\n<ONIXMessage release="3.0"><Header/><!-- b --><Product>${RECORD}${content}</Product>\n<!-- c -->\n<Product>${RECORD}</Product></ONIXMessage>\n<!-- d -->`;
}

/** Larger messages take minutes byte by byte. */
const LARGEST = 64_000;
/** A message is read as often as it has bytes. */
const LARGEST_CUT = IS_WHOLE_ON_EMBEDDED ? 8_000 : 1_000;

interface Read {
  parts: Part[];
  fault?: unknown;
}

async function read(pieces: Uint8Array[]): Promise<Read> {
  const parts: Part[] = [];
  try {
    for await (const part of readMessage(streamOf(pieces))) parts.push(part);
    return { parts };
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    const { code, message, line, column } = error;
    return { parts, fault: { code, message, line, column } };
  }
}

async function* streamOf(pieces: Uint8Array[]) {
  await Promise.resolve();
  yield* pieces;
}

function inPieces(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from(
    { length: Math.ceil(bytes.length / size) },
    (_, i) => bytes.subarray(i * size, (i + 1) * size),
  );
}

async function assertReadAlike(name: string, bytes: Uint8Array) {
  const whole = await read([bytes]);
  for (const size of [1, 2, 3, 7]) {
    const pieces = inPieces(bytes, size);
    assertEquals(await read(pieces), whole, `${name} in pieces of ${size}`);
  }
  if (bytes.length > LARGEST_CUT) return;
  for (let at = 1; at < bytes.length; at++) {
    const halves = [bytes.subarray(0, at), bytes.subarray(at)];
    assertEquals(await read(halves), whole, `${name} cut at ${at}`);
  }
}

Deno.test("A message is read alike in any pieces", async (t) => {
  for (const content of CONTENTS) {
    const bytes = new TextEncoder().encode(messageWith(content));
    await t.step(content, () => assertReadAlike(content, bytes));
  }
  for (const { url, name } of SAMPLES) {
    const bytes = Deno.readFileSync(url);
    if (bytes.length > LARGEST) continue;
    await t.step(name, () => assertReadAlike(name, bytes));
  }
});
