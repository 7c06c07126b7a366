import { createHash } from "node:crypto";
import { remembered } from "../../schema/objects.ts";
import { childValue, type Element, saidOf } from "../../schema/onix/xml/element.ts";
import { type Sent, sentOf } from "../../schema/onix/xml/sent.ts";
import { VERSION } from "../../schema/version.ts";

/* A record of a message before it is read, and the key of what reading it finds out. */

/** A record of a message as it arrived. */
export interface Arrived {
  kind: "arrived";
  product: Element;
  header: Element;
  sent: Sent;
  /** What finds its product. Null: it has none, and is rejected when it is read. */
  reference: string | null;
  line: number;
  /**
   * All that decides what reading it finds out: the version of the service, whose rules and
   * code lists are part of it, and the hash of what the record says, of the header's defaults,
   * and of whether its time lies ahead.
   */
  key: string;
  /** The number of characters that it says. */
  length: number;
}

/** What a header decides of its records: when it was sent, and what each is read with, as text. */
const decidedBy = remembered((header: Element) => {
  const sent = sentOf(header);
  const defaults = header.children.filter(({ name }) => name.startsWith("Default"));
  return { sent, text: JSON.stringify([sent.ahead !== undefined, ...defaults.map(saidOf)]) };
});

/** A record of a message with this header. */
export function arrivedOf(product: Element, header: Element): Arrived {
  const { sent, text } = decidedBy(header);
  const said = saidOf(product);
  const hash = createHash("sha256").update(text).update(said).digest("base64url");
  return {
    kind: "arrived",
    product,
    header,
    sent,
    reference: childValue(product, "RecordReference") ?? null,
    line: product.line ?? 0,
    key: `${VERSION} ${hash}`,
    length: said.length,
  };
}
