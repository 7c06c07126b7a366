import { fc } from "../support/app/packages.ts";
import { some } from "./arbitraries.ts";
import type { Entry } from "./catalogue.ts";
import { bodies } from "./bodies.ts";

/** A request of one of the two organizations, or an SQL change of a publishing program. */
export interface Step {
  operation: "create" | "update" | "get" | "delete" | "list" | "program";
  by: 0 | 1;
  /** Whether the product belongs to the other organization. */
  foreign: boolean;
  /** The index among all products ever created, modulo their number. -1 means an unknown product. */
  nth: number;
  /** The body of a create or update, or the query of a list. */
  input: Entry;
}

const QUERY = some({
  page: fc.constantFrom(1, 2),
  limit: fc.constantFrom(1, 2, 100),
  search: fc.constantFrom(
    "EMM",
    "ünï",
    "uni",
    "e mm",
    "em 0306",
    "030640615",
    "0-8044",
    "nothing",
  ),
  format_id: fc.constantFrom("@mine.format", "@mine.format2", "@theirs.format"),
  publishing_status_id: fc.constantFrom("@publishing_statuses.0", "@nobody"),
});

function step(
  operation: Step["operation"],
  input: fc.Arbitrary<Entry> = fc.constant({}),
): fc.Arbitrary<Step> {
  return fc.record({
    operation: fc.constant(operation),
    by: fc.constantFrom(0, 1),
    foreign: fc.oneof(
      { weight: 12, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    nth: fc.oneof(
      { weight: 20, arbitrary: fc.nat({ max: 3 }) },
      { weight: 1, arbitrary: fc.constant(-1) },
    ),
    input,
  });
}

const FIRST: Step[] = ([0, 1] as const).map((by) => ({
  operation: "create",
  by,
  foreign: false,
  nth: 0,
  input: { title: "Emma" },
}));

/** The steps of a run. Each organization starts with one product. */
export const STEPS: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: step("create", bodies("create")) },
    { weight: 8, arbitrary: step("update", bodies("update")) },
    { weight: 1, arbitrary: step("get") },
    { weight: 1, arbitrary: step("delete") },
    { weight: 2, arbitrary: step("list", QUERY) },
    { weight: 1, arbitrary: step("program") },
  ),
  { minLength: 5, maxLength: 15 },
).map((steps) => [...FIRST, ...steps]);
