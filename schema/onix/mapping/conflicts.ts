import type { Entry } from "../../bodies.ts";
import type { Message } from "../report/message.ts";
import type { Element } from "../xml/element.ts";
import type { Edits } from "./options.ts";
import type { RecordReader } from "./record_reader.ts";
import { entryInWords, type EntryKind } from "./words.ts";

/*
 * The warning about a value that both sides have changed: the sender, and somebody here.
 */

/** Warns of a value that both sides have changed. Returns whether the one here stays. */
export type TellConflict = (place: Place, theirs: string, ours: string) => boolean;

/** An element of the new record, or what is missing in it, and the entries that it is in. */
export interface Place {
  element: Element;
  missing?: string | undefined;
  within?: Way | undefined;
}

/** The entries that something is in, from the outermost. */
export type Way = readonly { array: EntryKind; entry: Entry }[];

/** Returns the function that adds the warnings to `messages`. */
export function conflictTeller(
  reader: RecordReader,
  edits: Edits,
  messages: Message[],
): TellConflict {
  const isKept = edits === "protect";
  return ({ element, missing, within = [] }, theirs, ours) => {
    messages.push({
      severity: "warning",
      code: isKept ? "edit_kept" : "edit_overwritten",
      ...reader.messages.placeOf(element, missing),
      message: conflictMessage(within, theirs, ours, isKept),
    });
    return isKept;
  };
}

/** Says what becomes of a value here. A value that is empty was removed. */
function conflictMessage(within: Way, theirs: string, ours: string, isKept: boolean): string {
  const entries = within.map(({ array, entry }) => entryInWords(array, entry));
  const sender = entries.length > 0 ? `${entries.join(", ")}: the sender` : "The sender";
  const isRemoved = theirs === "";
  const change = isRemoved
    ? `${sender} has removed this`
    : `${sender} has changed this to ${theirs}`;
  const here = ours === "" ? "its removal" : ours;
  if (isKept) return `${change}: ${here} stays, which was edited here`;
  if (isRemoved) return `${change}, and with it ${here}, which was edited here`;
  return `${change}: it takes the place of ${here}, which was edited here`;
}
