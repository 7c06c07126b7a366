import type { Database } from "../../../db/database.ts";
import { withOperations } from "./operations.ts";

/** A database that counts its look-ups and scans. */
export function countingReads(
  database: Database,
): Database & { reads: number } {
  function counting<Given extends unknown[], T>(
    operation: (...given: Given) => T,
  ) {
    return (...given: Given): T => {
      counted.reads++;
      return operation(...given);
    };
  }
  const changed = withOperations(database, (operations) => ({
    ...operations,
    lookUp: counting(operations.lookUp),
    scan: counting(operations.scan),
  }));
  const counted = Object.assign(changed, { reads: 0 });
  return counted;
}
