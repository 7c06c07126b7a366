import type { Entry } from "../../../schema/bodies.ts";
import { ApiError } from "../../../schema/errors.ts";
import { FIELDS } from "../../../schema/product.ts";
import type { Change } from "../../../db/products/change/change.ts";
import { RESTORABLE_FIELDS } from "../schema/history.ts";
import type { UndoMessage, UndoOutcome } from "../schema/undo.ts";
import { isChanged, shownChanges } from "./differences.ts";
import type { SharedForm } from "../../../schema/shared_form.ts";
import type { Pace } from "../../../schema/turns.ts";
import { changesContent, type RestorationTarget, restoringChange } from "./restorations.ts";

/*
 * Plans the undo of a request for one product, by a three-way comparison. *Before* is the state
 * before the request's first change of it, *after* the state after its last one, *now* the present
 * state. A field that the request has changed gets its value in *before*. It stays if it was changed
 * since: if its value in *now* is not that in *after*. For example:
 *
 *     before   title "Emma",  pages 300
 *     after    title "Emmma", pages 400
 *     now      title "Emmma", pages 410      the title is reverted, the pages stay (`changed_since`)
 */

/** The three states of a product. One is absent where the product did not exist. */
export interface UndoStates extends RestorationTarget {
  before: Entry | undefined;
  after: Entry | undefined;
  now: Entry | undefined;
  /** The version that shows `before`. */
  beforeVersion: string | null;
  /** The first product form that the request has given to the product's format. */
  form: SharedForm | null;
}

/** The plan for a product. */
export interface UndoPlan {
  states: UndoStates;
  outcome: UndoOutcome["outcome"];
  /** The change to write, if there is one. */
  change?: Change;
  changes: UndoOutcome["changes"];
  messages: UndoMessage[];
  /** The fields that were changed since the request, or "" for the product itself. */
  changedSince: string[];
}

/** Plans the undo of a product. */
export async function planUndo(states: UndoStates, pace: Pace): Promise<UndoPlan> {
  const { id, before, after, now } = states;
  const plan: UndoPlan = {
    states,
    outcome: "unchanged",
    changes: [],
    messages: formStays(states),
    changedSince: [],
  };
  if (!after) return await planReturn(plan, pace);
  if (!before) {
    if (!now) return plan;
    const changedSince = await changedNames(after, now, pace);
    return changedSince.length > 0
      ? { ...plan, outcome: "kept", changedSince }
      : { ...plan, outcome: "deleted", change: { method: "delete", id } };
  }
  if (!now) return { ...plan, outcome: "kept", changedSince: [""] };
  const fields: string[] = [];
  for (const name of await changedNames(before, after, pace)) {
    if (!await isFieldChanged(name, after, now, pace)) fields.push(name);
    else if (await isFieldChanged(name, before, now, pace)) plan.changedSince.push(name);
  }
  const outcome = plan.changedSince.length > 0 ? "kept" : "unchanged";
  if (fields.length === 0) return { ...plan, outcome };
  return await planFields(plan, before, now, fields, pace);
}

/** Warns that the product form stays, if the request has changed it on the product's format. */
function formStays({ form, now }: UndoStates): UndoMessage[] {
  if (!form || !now || now.product_form_id === form.from) return [];
  const message =
    `The format "${form.format}" stores the product form, which stays: to change it back, write it to a product with this format`;
  return [{ severity: "warning", code: "shared", pointer: "/product_form_id", message }];
}

/** Plans the return of a product that the request has deleted. */
async function planReturn(plan: UndoPlan, pace: Pace): Promise<UndoPlan> {
  const { states } = plan;
  const { before, now } = states;
  if (!before) return now ? { ...plan, outcome: "kept", changedSince: [""] } : plan;
  if (now) {
    const changedSince = await changedNames(before, now, pace);
    return changedSince.length > 0 ? { ...plan, outcome: "kept", changedSince } : plan;
  }
  const from = { ...states, last: {}, version: states.beforeVersion! };
  const change = await restoringChange(before, from, pace);
  return change instanceof ApiError
    ? refused(plan, change)
    : { ...plan, outcome: "restored", change };
}

/** Plans to revert these fields. */
async function planFields(
  plan: UndoPlan,
  before: Entry,
  now: Entry,
  fields: readonly string[],
  pace: Pace,
): Promise<UndoPlan> {
  const { states } = plan;
  const version = states.beforeVersion!;
  const change = await restoringChange(before, { ...states, last: now, version, fields }, pace);
  if (change instanceof ApiError) return refused(plan, change);
  if (!await changesContent(now, change, pace)) return plan;
  const { changes } = await shownChanges(now, { ...now, ...change.body }, pace);
  return { ...plan, outcome: "undone", change, changes };
}

/** The plan of a product that cannot be written, with the errors that its restore would have. */
export function refused(plan: UndoPlan, error: ApiError): UndoPlan {
  const details = error.details.flatMap((detail): UndoMessage[] =>
    "pointer" in detail
      ? [{ severity: "error", code: detail.code, pointer: detail.pointer, message: detail.message }]
      : []
  );
  const whole: UndoMessage = {
    severity: "error",
    code: error.code.toLowerCase(),
    pointer: "",
    message: error.message,
  };
  const messages = details.length > 0 ? details : [whole];
  return { ...plan, outcome: "refused", changes: [], messages };
}

/** The fields in which two states differ, of those that can be restored. */
export async function changedNames(one: Entry, other: Entry, pace: Pace): Promise<string[]> {
  const names: string[] = [];
  for (const name of RESTORABLE_FIELDS) {
    if (await isFieldChanged(name, one, other, pace)) names.push(name);
  }
  return names;
}

async function isFieldChanged(
  name: string,
  one: Entry,
  other: Entry,
  pace: Pace,
): Promise<boolean> {
  return one !== other && await isChanged(one, other, pace, { [name]: FIELDS[name]! });
}
