import type { Database } from "../db/database.ts";

/** The database, and how often it was read or written. */
export function countingReads(
  database: Database,
): Database & { reads: number } {
  const counted = {
    ...database,
    load: database.load,
    reads: 0,
    until(deadline: number) {
      const { read, transaction } = database.until(deadline);
      return {
        read: <T>(...work: Parameters<typeof read<T>>) => {
          counted.reads++;
          return read(...work);
        },
        transaction,
      };
    },
  };
  return counted;
}
