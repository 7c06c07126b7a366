/* Options of an import into a catalogue that users edit as well. */

/** What an import does with local edits. `keep` overwrites one if the sender has changed the field too. */
export const EDITS = ["keep", "protect", "overwrite"] as const;

export type Edits = typeof EDITS[number];

/** What an import does with records of a message that is older than the last one. */
export const STALE = ["skip", "apply"] as const;

export type Stale = typeof STALE[number];
