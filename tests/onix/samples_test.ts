import { assert, assertEquals } from "@std/assert";
import { childValue, type Element, valueOf } from "../../features/onix/schema/xml/element.ts";
import { dataElement } from "../../features/onix/schema/rules/facts.ts";
import { type Release, RELEASES, TAGS } from "../../features/onix/schema/rules/releases.ts";
import { XmlError } from "../../features/onix/schema/xml/xml_error.ts";
import { faultsOf, HAS_SCHEMAS } from "./schemas.ts";
import {
  imported,
  leavesOf,
  read,
  readRecord,
  SAMPLES,
  without,
  writeRecord,
  written,
} from "./support.ts";

/*
 * Our own messages, and those of others where there are some: they may not be part of this
 * repository. Some are records without a message around them.
 */

const ROOT = /<(?:\w+:)?(ONIXMessage|ONIXmessage|Product|product)\b/;

async function sample(url: URL) {
  const bytes = await Deno.readFile(url);
  const ascii = new TextDecoder("windows-1252").decode(bytes);
  const [, root] = ROOT.exec(ascii) ?? [];
  const release: Release = /\brelease="3\.1"/.test(ascii) ? "3.1" : "3.0";
  const isBare = root === "Product" || root === "product";
  const text = new TextDecoder().decode(bytes).replace(/^<\?xml.*?\?>/s, "");
  const chunk = isBare ? `<ONIXMessage release="3.0">${text}</ONIXMessage>` : bytes;
  let header: Element | undefined;
  const records = new Map<string, Element>();
  for (const part of await read([chunk])) {
    if (part.kind === "header") ({ header } = part);
    if (part.kind === "product") {
      records.set(
        childValue(part.product, "RecordReference") ?? "",
        part.product,
      );
    }
  }
  return { header: header!, release, records: [...records.values()] };
}

/** How many values a record has. */
function sizeOf(element: Element): number {
  if (element.children.length > 0) {
    return element.children.reduce((sum, child) => sum + sizeOf(child), 0);
  }
  const isFlag = dataElement(element.name)?.kind === "flag";
  return isFlag || valueOf(element) !== undefined ? 1 : 0;
}

/** The record under a reference that is unique among all files. */
function named(record: Element, reference: string): Element {
  const [first, ...others] = record.children;
  return { ...record, children: [{ ...first!, text: reference }, ...others] };
}

Deno.test({
  name: "Whole messages",
  async fn(t) {
    let received = 0;
    let lost = 0;
    /** What goes out of all files, from the records received and from products without one. */
    const sent: Record<Release, Element[]> = { "3.0": [], "3.1": [] };

    for (const { name: file, url } of SAMPLES) {
      await t.step(file, async () => {
        const read = await sample(url).catch((error) => {
          assert(error instanceof XmlError, String(error));
        });
        if (!read) return;
        const { header, release, records } = read;
        for (const record of records) {
          const incoming = readRecord(record, header);
          if (incoming.kind === "rejected") {
            assert(
              incoming.messages.some(({ severity }) => severity === "error"),
            );
            continue;
          }
          if (incoming.notification === "05") continue;
          const { book, received: stored } = imported(record, header);
          received += sizeOf(stored.record);
          for (const each of RELEASES) {
            const { record: out } = writeRecord(book, stored, each);
            sent[each].push(named(out, `${file} ${incoming.reference}`));
            if (incoming.notification !== "04") {
              const { record: made } = writeRecord(book, null, each);
              sent[each].push(
                named(made, `${file} ${incoming.reference} made`),
              );
            }
            if (each !== release) continue;
            const missing = without(leavesOf(stored.record), leavesOf(out));
            lost += missing.filter((leaf) => !leaf.endsWith(" = ")).length;
          }
        }
      });
    }

    await t.step("go out again", () => {
      assert(received > 0);
      assert(
        lost / received <= 0.005,
        `${lost} of ${received} values are lost`,
      );
    });

    for (const release of RELEASES) {
      for (const tags of TAGS) {
        await t.step({
          name: `go out valid as ${release} ${tags}`,
          ignore: !HAS_SCHEMAS,
          async fn() {
            const text = await written(sent[release], release, tags);
            assertEquals(await faultsOf(text, release, tags), "");
          },
        });
      }
    }
  },
});
