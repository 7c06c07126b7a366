import * as v from "valibot";
import { at, DUPLICATE, isObject, list } from "./objects.ts";
import { ProductTerritoryBody, SalesRightBody } from "./rights.ts";

/** Entries in all arrays of the tree. */
const MAX_ROWS = 20_000;

/** The body of `PUT /products/{id}/territories`. Ids are unique among the rows of a kind. */
export const TerritoriesBody = v.pipe(
  v.unknown(),
  v.check(
    (tree) => countRows(tree) <= MAX_ROWS,
    `too_many: At most ${MAX_ROWS} entries in all arrays together`,
  ),
  list(ProductTerritoryBody),
  v.rawCheck(({ dataset, addIssue }) => {
    const seen = new Set<string>();
    for (const { kind, id, path } of rowIds(dataset.value)) {
      if (seen.has(`${kind} ${id}`)) {
        addIssue({ message: DUPLICATE, path: at(...path) });
      }
      seen.add(`${kind} ${id}`);
    }
  }),
);

export type TerritoriesBody = v.InferOutput<typeof TerritoriesBody>;

/** The body of `PUT /products/{id}/sales-rights`. */
export const SalesRightsBody = list(SalesRightBody, "id");

export type SalesRightsBody = v.InferOutput<typeof SalesRightsBody>;

/** The `id` of an entry, with its path. */
export interface RowId {
  kind: "territories" | "markets" | "supply_details" | "prices";
  id: string;
  path: (string | number)[];
}

/** Every id of the tree, which may be invalid. */
export function* rowIds(
  entries: unknown,
  kind: RowId["kind"] = "territories",
  at: RowId["path"] = [],
): Generator<RowId> {
  if (!Array.isArray(entries)) return;
  for (const [i, entry] of entries.entries()) {
    if (!isObject(entry)) continue;
    const path = [...at, i];
    if (typeof entry.id === "string") {
      yield { kind, id: entry.id.toLowerCase(), path: [...path, "id"] };
    }
    for (const child of ["markets", "supply_details", "prices"] as const) {
      yield* rowIds(entry[child], child, [...path, child]);
    }
  }
}

function countRows(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>(
    (sum, inner) => sum + countRows(inner),
    Array.isArray(value) ? value.filter(isObject).length : 0,
  );
}
