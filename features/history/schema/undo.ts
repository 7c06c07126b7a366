import * as v from "valibot";
import { jsonPieces } from "../../../schema/json_pieces.ts";
import { KeptOutcomes, MAX_OUTCOMES } from "../../../schema/kept_outcomes.ts";
import { closedObject } from "../../../schema/objects.ts";
import { inTurns, type Pace } from "../../../schema/turns.ts";
import { Time } from "../../../schema/parameters.ts";
import { Count, described, heading, optionalFlag, Uuid } from "../../../schema/values.ts";
import { HistoryChange, REQUEST_DAYS } from "./history.ts";

/* The undo of a request: its parameters, its body and its report. */

/** The parameters of `POST /history/undo`. */
export const UndoParameters = v.object({
  dry_run: optionalFlag(
    "Whether nothing is written. The response is the same.",
  ),
});

export type UndoQuery = v.InferOutput<typeof UndoParameters>;

/** The body of `POST /history/undo`. */
export const UndoRequest = closedObject({
  request_id: described(
    "The `X-Request-Id` of the request to undo, or the id of the run of a command.",
    heading(128),
  ),
  since: described(
    `The request has written nothing before this time. Without it, its writes of the last ${REQUEST_DAYS} days are undone.`,
    v.optional(Time),
  ),
});

export type UndoRequest = v.InferOutput<typeof UndoRequest>;

/** A message about a product. */
export const UndoMessage = v.object({
  severity: described(
    "An error keeps the product from being undone.",
    v.picklist(["error", "warning"]),
  ),
  code: described(
    "The kind of message, for machines: `changed_since`, `in_use`, `shared`, `skipped`, or the code of an error of a restore.",
    v.string(),
  ),
  pointer: described("The place in the product (JSON Pointer, RFC 6901).", v.string()),
  message: described("What it is about, for people.", v.string()),
});

export type UndoMessage = v.InferOutput<typeof UndoMessage>;

export const UNDO_OUTCOMES = [
  "undone",
  "deleted",
  "restored",
  "unchanged",
  "kept",
  "refused",
] as const;

/** The outcome of a product. */
export const UndoOutcome = v.object({
  id: described("The id of the product.", Uuid),
  title: described("The title of the product.", v.nullable(v.string())),
  isbn13: described("The ISBN of the product.", v.nullable(v.string())),
  outcome: described(
    "`undone`: fields were reverted. `deleted`: the request had created the product. `restored`: the request had deleted it. `unchanged`: it already has the values before the request. `kept`: all its fields were changed later. `refused`: it cannot be restored.",
    v.picklist(UNDO_OUTCOMES),
  ),
  changes: described("What the undo changes, at most 100 changes.", v.array(HistoryChange)),
  messages: described("The fields that stay, and why.", v.array(UndoMessage)),
});

export type UndoOutcome = v.InferOutput<typeof UndoOutcome>;

export const UndoReport = v.object({
  request_id: described("The request that is undone.", v.string()),
  products: described("The number of products that the request has written.", Count),
  undone: described("Products with reverted fields.", Count),
  deleted: described("Products that the request had created.", Count),
  restored: described("Products that the request had deleted.", Count),
  unchanged: described("Products that already have the values before the request.", Count),
  kept: described("Products whose fields were all changed later.", Count),
  refused: described("Products that cannot be restored.", Count),
  dry_run: described("Whether nothing was written.", v.boolean()),
  outcomes: described(
    "The outcomes of products: at most 1,000, and about 8 MiB, those with messages first.",
    v.array(UndoOutcome),
  ),
  more_outcomes: described("The number of outcomes that are left out.", Count),
});

export type UndoReport = v.InferOutput<typeof UndoReport>;

/** Counts the outcomes. If there are many, it keeps those with messages. */
export class UndoTally {
  readonly #counts: Omit<UndoReport, "outcomes" | "more_outcomes">;
  readonly #withMessages = new KeptOutcomes<UndoOutcome>();
  readonly #others = new KeptOutcomes<UndoOutcome>();

  constructor(request_id: string, dry_run: boolean) {
    const none = { undone: 0, deleted: 0, restored: 0, unchanged: 0, kept: 0, refused: 0 };
    this.#counts = { request_id, products: 0, ...none, dry_run };
  }

  get products(): number {
    return this.#counts.products;
  }

  async add(one: UndoOutcome, pace: Pace): Promise<void> {
    this.#counts.products++;
    this.#counts[one.outcome]++;
    const kept = one.messages.length > 0 ? this.#withMessages : this.#others;
    if (!kept.isFull) kept.add(one, (await inTurns(jsonPieces(one), pace)).length);
  }

  report(): UndoReport {
    const kept = [...this.#withMessages.outcomes, ...this.#others.outcomes];
    const outcomes = kept.slice(0, MAX_OUTCOMES);
    return { ...this.#counts, outcomes, more_outcomes: this.products - outcomes.length };
  }
}
