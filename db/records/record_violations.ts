import {
  ApiError,
  invalid,
  unavailable,
  unknownReference,
} from "../../schema/errors.ts";
import { nounOf, type OwnTable } from "../../schema/records.ts";
import { REFERENCES } from "../../schema/references.ts";
import { sql } from "../connections/sql.ts";
import { brokenConstraint } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";
import { isUse, productsOf } from "./record_uses.ts";

/** What to tell the client of a write that failed: `VALIDATION_ERROR` for a reference that is unknown. */
export function explainWrite(error: unknown): unknown {
  const constraint = brokenConstraint(error);
  const unknown = REFERENCES.find((reference) =>
    reference.heldBy && reference.constraint === constraint
  );
  if (!unknown) return error;
  return invalid("The body", [unknownReference(`/${unknown.field}`)]);
}

/** What to tell the client of a deletion that failed: `CONFLICT` with the number of products that refer to the record. */
export async function explainDelete(
  database: Operations,
  error: unknown,
  { table, id }: { table: OwnTable; id: string },
): Promise<unknown> {
  if (!isUse(table, brokenConstraint(error))) return error;
  const [row] = await database.scan(
    sql<{ count: number }>`select ${productsOf(table, id)} as count`,
  );
  const { count } = row!;
  const noun = nounOf(table);
  // It was used a moment ago.
  if (count === 0) {
    return unavailable(`The ${noun} is being used by another request`, error);
  }
  const message = count === 1
    ? "1 product refers to it"
    : `${count} products refer to it`;
  return new ApiError("CONFLICT", `The ${noun} is in use: ${message}`, {
    cause: error,
    details: [{ code: "in_use", count, message }],
  });
}
