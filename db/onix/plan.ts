import type { Outcome } from "../../schema/onix/report/report.ts";
import { isbnNumber } from "../../schema/isbn.ts";
import { DELETION, PARTIAL } from "../../schema/onix/rules/notifications.ts";
import { uuidv7 } from "../uuid.ts";
import { type Found, type Matches, referencesOf } from "./find.ts";
import { type Item, outcomeOf } from "./items.ts";
import type { Message } from "../../schema/onix/xml/paths.ts";
import type { Edits, Stale } from "../../schema/onix/mapping/options.ts";
import {
  ambiguous,
  isbnInUse,
  NOT_FOUND,
  STALE,
  superseded,
  UNKNOWN_RECORD,
} from "./record_messages.ts";

/* What becomes of records: which products they create, change and delete, and which write nothing. */

/** A record that creates, changes or deletes its product. */
export interface Planned {
  item: Item;
  id: string;
  /** Absent for a new product. */
  found?: Found;
}

/** What is done with records in one pass. */
export interface Plan {
  changes: Planned[];
  deletions: Planned[];
  /** The records that their products have already. */
  unchanged: Planned[];
  /** The records of the next pass. */
  later: Item[];
}

/** What has become of records. */
export type Outcomes = Map<Item, Outcome>;

/** How records are applied. */
export interface PlanOptions {
  /**
   * What is written of a product that was edited here: `keep` and `protect` write what the
   * sender has changed since the last record, `protect` not where it was edited, and
   * `overwrite` writes all that the record says.
   */
  edits: Edits;
  /** Whether a record of an older message than the last one is applied. */
  stale: Stale;
}

/** Whether the product has the record already, and nothing is to be written again. */
function isUnchanged(
  { gist: { digest, reference, notification } }: Item,
  found: Found,
  { edits }: PlanOptions,
): boolean {
  return found.digest === digest &&
    (found.is_current || edits !== "overwrite") &&
    referencesOf(found).includes(reference) &&
    notification !== PARTIAL && notification !== DELETION;
}

/** Whether the sender has sent a later message with the product, so that this record is skipped. */
function isStale(
  { arrived: { sent: { at } } }: Item,
  { sent_at }: Found,
  { stale }: PlanOptions,
): boolean {
  return stale === "skip" && at !== null && sent_at !== null && at < sent_at;
}

/** Whether an earlier record of the message has the ISBN of this one, and the two are of different products. */
function isOfRival(rival: string, { gist }: Item, found: Found | undefined): boolean {
  const references = found ? referencesOf(found) : [];
  return !references.includes(rival) ||
    !references.includes(gist.reference);
}

/**
 * Plans a pass, in which each product is written once. Of several whole records of a
 * product the last one counts. A partial update after another record of its product comes
 * later, as does a record that could find a product by what this pass writes. Records that
 * write nothing get their outcomes.
 */
export function planOf(
  items: readonly Item[],
  matches: Matches,
  outcomes: Outcomes,
  options: PlanOptions,
): Plan {
  const planned = new Map<string, Planned>();
  const writtenIsbns = new Set<string>();
  let later: Item[] = [];
  const decide = (
    item: Item,
    outcome: "rejected" | "unchanged",
    id: string | null,
    ...messages: Message[]
  ) => outcomes.set(item, outcomeOf(item, outcome, id, ...messages));

  for (const [at, item] of items.entries()) {
    const { reference, notification } = item.gist;
    const isbn13 = isbnNumber(item.gist);
    const found = matches.of(item);
    if (found === "ambiguous") {
      decide(item, "rejected", null, ambiguous(item.incoming, matches.sharing(isbn13)));
      continue;
    }
    const { rival } = item;
    if (rival !== undefined && isOfRival(rival, item, found)) {
      decide(item, "rejected", null, isbnInUse(item.incoming, rival));
      continue;
    }
    if (found && isStale(item, found, options)) {
      decide(item, "unchanged", found.id, STALE);
      continue;
    }
    const names = found
      ? [`id ${found.id}`]
      : [`reference ${reference}`, ...isbn13 ? [`isbn ${isbn13}`] : []];
    const earlier = names.map((name) => planned.get(name)).find((one) => one);
    const findsWritten = !found && isbn13 !== null && !earlier &&
      writtenIsbns.has(isbn13);
    if (findsWritten || earlier && notification === PARTIAL) {
      later = items.slice(at);
      break;
    }
    if (earlier) {
      decide(earlier.item, "unchanged", found?.id ?? null, superseded(item.arrived.line));
      for (const [name, one] of planned) {
        if (one === earlier) planned.delete(name);
      }
    }
    if (!found && notification === PARTIAL) {
      decide(item, "rejected", null, NOT_FOUND);
      continue;
    }
    if (!found && notification === DELETION) {
      decide(item, "unchanged", null, UNKNOWN_RECORD);
      continue;
    }
    const one: Planned = found ? { item, id: found.id, found } : { item, id: uuidv7() };
    for (const name of names) planned.set(name, one);
    if (found && isbn13) writtenIsbns.add(isbn13);
  }

  const all = [...new Set(planned.values())];
  const changes: Planned[] = [];
  const deletions: Planned[] = [];
  const unchanged: Planned[] = [];
  for (const one of all) {
    const { item, id, found } = one;
    if (item.gist.notification === DELETION) deletions.push(one);
    else if (found && isUnchanged(item, found, options)) {
      decide(item, "unchanged", id);
      unchanged.push(one);
    } else changes.push(one);
  }
  return { changes, deletions, unchanged, later };
}
