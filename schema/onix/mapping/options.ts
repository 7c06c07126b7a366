/*
 * How a message is imported into a catalogue in which people work, too.
 */

/** What may become of fields that were edited here. */
export const EDITS = ["keep", "protect", "overwrite"] as const;

export type Edits = typeof EDITS[number];

/** What may become of records of old messages. */
export const STALE = ["skip", "apply"] as const;

export type Stale = typeof STALE[number];
