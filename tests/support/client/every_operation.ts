import { OPERATIONS } from "../../../routes/operations.ts";
import { expandTables } from "../../../routes/openapi/tables.ts";

/** Every operation of the API that takes credentials. */
export const EVERY_OPERATION = expandTables(OPERATIONS)
  .filter(({ permission }) => permission !== "none")
  .map(({ key, permission }) => {
    const [method, template] = key.split(" ") as [string, string];
    return { key, method, template, permission };
  });

/** A path of the operation with ids that may exist. */
export function pathWith(id: string, { template }: { template: string }) {
  const path = template.replace("{number}", "96")
    .replace("{key_id}", "0123456789ab")
    .replace("{delivery_id}", `msg_${"0".repeat(32)}`)
    .replaceAll(/\{\w+\}/g, id);
  return `/api${path}`;
}
