import type { Entry } from "../../../../schema/bodies.ts";
import type { Message } from "../report/message.ts";
import type { Edits } from "./options.ts";
import type { Location } from "../codecs/checks.ts";
import type { RecordReader } from "../codecs/record_reader.ts";
import { entryInWords, type EntryKind } from "./words.ts";

/*
 * Conflicts of a merge: values that the sender and a user have both changed. In: the import's
 * option for edits. Out: the side that wins every conflict of the import, and a warning for each.
 */

/** The side whose value is stored: the sender's record, or the product. */
export type Side = "incoming" | "local";

/** Returns the side that wins conflicts. */
export function winnerOf(edits: Edits): Side {
  return edits === "protect" ? "local" : "incoming";
}

/** Reports that both sides have changed a value. An empty text is a removal. */
export type ReportConflict = (
  location: LocationOfConflict,
  incoming: string,
  local: string,
) => void;

/** A place in the incoming record, with the entries around it. */
export interface LocationOfConflict extends Location {
  within?: EntryPath | undefined;
}

/** The entries around an element, from the outermost. */
export type EntryPath = readonly { array: EntryKind; entry: Entry }[];

/** Returns the function that adds a warning for each conflict to `messages`. */
export function conflictReporter(
  winner: Side,
  reader: RecordReader,
  messages: Message[],
): ReportConflict {
  return ({ element, missing, within = [] }, incoming, local) => {
    messages.push({
      severity: "warning",
      code: winner === "local" ? "edit_kept" : "edit_overwritten",
      ...reader.messages.locationOf(element, missing),
      message: conflictMessage(within, incoming, local, winner),
    });
  };
}

function conflictMessage(
  within: EntryPath,
  incoming: string,
  local: string,
  winner: Side,
): string {
  const entries = within.map(({ array, entry }) => entryInWords(array, entry));
  const sender = entries.length > 0 ? `${entries.join(", ")}: the sender` : "The sender";
  const isRemoved = incoming === "";
  const change = isRemoved
    ? `${sender} has removed this`
    : `${sender} has changed this to ${incoming}`;
  const edit = local === "" ? "its removal" : local;
  if (winner === "local") return `${change}: ${edit} stays, which was edited here`;
  if (isRemoved) return `${change}, and with it ${edit}, which was edited here`;
  return `${change}: it takes the place of ${edit}, which was edited here`;
}
