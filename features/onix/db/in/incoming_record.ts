import { createHash } from "node:crypto";
import { remembered } from "../../../../schema/objects.ts";
import { childrenOf, childValue, contentOf, type Element } from "../../schema/xml/element.ts";
import { type Sent, sentOf } from "../../schema/xml/sent.ts";
import { rulesVersion } from "./analysis_rules.ts";

/*
 * A record of a message before it is read, with the key of its analysis in the cache. The key is
 * made of everything that the analysis depends on: the rules of the service, the content of the
 * record, the defaults of the header, and whether its time lies ahead.
 *
 * Two files with the same record have the same key, whatever lines it is on.
 */

/** A record of a message that has not been read. */
export interface IncomingRecord {
  kind: "incoming";
  product: Element;
  header: Element;
  sent: Sent;
  /** The reference that finds its product. Null: it has none, and is rejected when it is read. */
  reference: string | null;
  line: number;
  analysisKey: string;
  /** The number of characters of its content. */
  length: number;
  /** The number of its contributors. */
  contributors: number;
}

/** What all records of a message share: when it was sent, and the inputs of their analyses as text. */
const headerOf = remembered((header: Element) => {
  const sent = sentOf(header);
  const defaults = header.children.filter(({ name }) => name.startsWith("Default"));
  return { sent, inputs: JSON.stringify([sent.ahead !== undefined, ...defaults.map(contentOf)]) };
});

/** Returns a record of a message with this header. */
export function incomingRecordOf(product: Element, header: Element): IncomingRecord {
  const { sent, inputs } = headerOf(header);
  const content = contentOf(product);
  const hash = createHash("sha256").update(inputs).update(content).digest("base64url");
  return {
    kind: "incoming",
    product,
    header,
    sent,
    reference: childValue(product, "RecordReference") ?? null,
    line: product.line ?? 0,
    analysisKey: `${rulesVersion()} ${hash}`,
    length: content.length,
    contributors: childrenOf(product, "DescriptiveDetail")
      .reduce((sum, detail) => sum + childrenOf(detail, "Contributor").length, 0),
  };
}
