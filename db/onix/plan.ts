import type { Message, Outcome } from "../../schema/onix/report/report.ts";
import { uuidv7 } from "../uuid.ts";
import type { Found, Locked, Matches } from "./find.ts";
import { type Item, outcomeOf } from "./items.ts";

/* What a transaction does with records: which products it creates, changes and deletes. */

/** A record that creates, changes or deletes its product. */
export interface Planned {
  item: Item;
  id: string;
  /** Absent for a new product. */
  found?: Locked;
}

/** The next round of a transaction. */
export interface Plan {
  changes: Planned[];
  deletions: Planned[];
  /** The records that the round after it writes. */
  later: readonly Item[];
}

/** What has become of records. */
export type Outcomes = Map<Item, Outcome>;

/** Whether the product has the record already, and has not changed since. */
export function isUnchanged(
  { digest, incoming: { notification } }: Item,
  found: Found | undefined,
): boolean {
  return found !== undefined && found.is_current && found.digest === digest &&
    notification !== "04" && notification !== "05";
}

/**
 * Plans a round, in which each product is written once. Of several whole records of a
 * product the last one counts. A partial update after another record of its product comes
 * later, as does a record that could find a product by what this round writes. Records that
 * write nothing get their outcomes.
 */
export function planOf(
  items: readonly Item[],
  matches: Matches<Locked>,
  outcomes: Outcomes,
): Plan {
  const planned = new Map<string, Planned>();
  const writtenIsbns = new Set<string>();
  let later: readonly Item[] = [];

  for (const [at, item] of items.entries()) {
    const { reference, isbn13, notification } = item.incoming;
    const found = matches.of(item);
    if (found === "ambiguous") {
      outcomes.set(item, outcomeOf(item, "rejected", null, ambiguous(isbn13)));
      continue;
    }
    const names = found
      ? [`id ${found.id}`]
      : [`reference ${reference}`, ...isbn13 ? [`isbn ${isbn13}`] : []];
    const earlier = names.map((name) => planned.get(name)).find((one) => one);
    const findsWritten = !found && isbn13 !== null && !earlier &&
      writtenIsbns.has(isbn13);
    if (findsWritten || earlier && notification === "04") {
      later = items.slice(at);
      break;
    }
    if (earlier) {
      outcomes.set(
        earlier.item,
        outcomeOf(
          earlier.item,
          "unchanged",
          found?.id ?? null,
          superseded(item),
        ),
      );
      for (const [name, one] of planned) {
        if (one === earlier) planned.delete(name);
      }
    }
    if (!found && notification === "04") {
      outcomes.set(item, outcomeOf(item, "rejected", null, NOT_FOUND));
      continue;
    }
    if (!found && notification === "05") {
      outcomes.set(item, outcomeOf(item, "unchanged", null, UNKNOWN));
      continue;
    }
    const one: Planned = found
      ? { item, id: found.id, found }
      : { item, id: uuidv7() };
    for (const name of names) planned.set(name, one);
    if (found && isbn13) writtenIsbns.add(isbn13);
  }

  const all = [...new Set(planned.values())];
  const changes: Planned[] = [];
  const deletions: Planned[] = [];
  for (const one of all) {
    const { item, id, found } = one;
    if (item.incoming.notification === "05") deletions.push(one);
    else if (isUnchanged(item, found)) {
      outcomes.set(item, outcomeOf(item, "unchanged", id));
    } else changes.push(one);
  }
  return { changes, deletions, later };
}

/** A message that rejects a record. */
export function fault(
  code: string,
  message: string,
  value: string | null = null,
): Message {
  return { severity: "error", code, path: "/Product", value, message };
}

const NOT_FOUND = fault(
  "not_found",
  "No product has the reference or the ISBN of this partial update",
);

function ambiguous(isbn: string | null): Message {
  return {
    ...fault("ambiguous", "Several products have this ISBN", isbn),
    path: "/Product/ProductIdentifier/IDValue",
  };
}

const UNKNOWN: Message = {
  severity: "warning",
  code: "not_found",
  path: "/Product/RecordReference",
  value: null,
  message: "No product has this reference: there is nothing to delete",
};

function superseded({ incoming: { line } }: Item): Message {
  return {
    severity: "warning",
    code: "superseded",
    path: "/Product",
    value: null,
    message:
      `The record on line ${line} is of the same product, and counts instead`,
  };
}
