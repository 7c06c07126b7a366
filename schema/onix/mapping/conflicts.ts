import type { Entry } from "../../bodies.ts";
import type { Element } from "../xml/element.ts";
import type { Message } from "../xml/paths.ts";
import type { Edits } from "./options.ts";
import type { RecordReader } from "./record_reader.ts";
import { entryInWords, type EntryKind } from "./words.ts";

/*
 * What a sender is told of a value that both have changed, the sender and somebody here.
 */

/** Warns of a value that was changed by the sender and here. Returns whether the one here stays. */
export type Conflict = (place: Place, theirs: string, ours: string) => boolean;

/** An element of the new record, or what is missing in it, and the entries that it is in, in words. */
export interface Place {
  element: Element;
  missing?: string | undefined;
  of?: Way | undefined;
}

/** The entries that something is in, from the outermost. */
export type Way = readonly { array: EntryKind; entry: Entry }[];

/** Returns the function that adds the conflicts to `messages`. */
export function conflictTeller(
  reader: RecordReader,
  edits: Edits,
  messages: Message[],
): Conflict {
  const isKept = edits === "protect";
  return ({ element, missing, of }, theirs, ours) => {
    const entries = of?.map(({ array, entry }) => entryInWords(array, entry));
    const around = entries?.length ? `${entries.join(", ")}: the` : "The";
    const change = theirs === ""
      ? `${around} sender has removed this`
      : `${around} sender has changed this to ${theirs}`;
    const here = ours === "" ? "its removal" : ours;
    messages.push({
      severity: "warning",
      code: isKept ? "edit_kept" : "edit_overwritten",
      ...reader.messages.placeOf(element, missing),
      message: isKept
        ? `${change}: ${here} stays, which was edited here`
        : theirs === ""
        ? `${change}, and with it ${here}, which was edited here`
        : `${change}: it takes the place of ${here}, which was edited here`,
    });
    return isKept;
  };
}
