import { createHash } from "node:crypto";
import type { Element } from "../../schema/xml/element.ts";
import { toStored } from "../../schema/xml/write.ts";

/* The form in which a record is stored. Its hash shows whether a product already has it. */

/** The record to store, or of a partial update its blocks, with its text and the hash of that. */
export interface StoredForm {
  record: Element;
  text: string;
  digest: string;
}

/** The form in which a record is stored. */
export function storedForm(record: Element): StoredForm {
  const text = toStored(record);
  const digest = createHash("sha256").update(text).digest("base64url");
  return { record, text, digest };
}
