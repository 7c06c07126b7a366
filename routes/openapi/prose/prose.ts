import { HISTORY } from "./history.ts";
import { ONIX } from "./onix.ts";
import { PRODUCTS } from "./products.ts";
import { RECIPIENTS } from "./recipients.ts";
import { RECORDS } from "./records.ts";
import { SERVICE } from "./service.ts";
import { SHEETS } from "./sheets.ts";
import { WEBHOOKS } from "./webhooks.ts";

/**
 * The prose of each operation. Its parameters, body and response stand in the table of operations.
 * `forTable` of `tables.ts` replaces the words in braces.
 */
export const PROSE = {
  ...PRODUCTS,
  ...HISTORY,
  ...SHEETS,
  ...ONIX,
  ...RECIPIENTS,
  ...RECORDS,
  ...WEBHOOKS,
  ...SERVICE,
};

/** The `operationId` of an operation. */
export type OperationId = keyof typeof PROSE;
