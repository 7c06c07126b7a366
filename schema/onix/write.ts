import type { Element } from "./element.ts";
import type { Release, Tags } from "./releases.ts";

/** The form of a message, and who sends it when. */
export interface MessageOptions {
  release: Release;
  tags: Tags;
  sender: string;
  sentAt: Date;
}

/** Writes a message in chunks of text. Without records it has `NoProduct`. */
export async function* writeMessage(
  _options: MessageOptions,
  _records: Iterable<Element> | AsyncIterable<Element>,
): AsyncGenerator<string> {
  await Promise.resolve();
  yield "";
}

/** The text in which a record is stored. */
export function toStored(_record: Element): string {
  return "";
}

/** Reads what `toStored` wrote. */
export function fromStored(_text: string): Element {
  throw new Error("Not implemented");
}
