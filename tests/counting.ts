import type { Database } from "../db/database.ts";

/** The database, and how often something was looked up there. */
export function countingLookUps(
  database: Database,
): Database & { lookUps: number } {
  const counted = {
    ...database,
    load: database.load,
    lookUps: 0,
    until(deadline: number) {
      const operations = database.until(deadline);
      return {
        ...operations,
        lookUp: <T>(...work: Parameters<typeof operations.lookUp<T>>) => {
          counted.lookUps++;
          return operations.lookUp(...work);
        },
      };
    },
  };
  return counted;
}
