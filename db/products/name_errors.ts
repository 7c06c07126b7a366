import { detailAt, type ErrorDetail } from "../../schema/errors.ts";
import { expectedCode } from "../../schema/onix_codes.ts";
import {
  codeListOf,
  isShared,
  nounOf,
  pathOfTable,
  type RecordTable,
} from "../../schema/records.ts";
import { didYouMean } from "../../schema/spelling.ts";
import { organization, raw, sql, unprepared } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { nameKey } from "../record_names.ts";
import type { NamedReference } from "./names.ts";

/**
 * The error of a name or a code that several records have, or none. If none has it, the error
 * suggests the nearest one.
 */
export async function explainName(
  tx: Transaction,
  { entry, reference, value: named }: NamedReference,
  records: number,
): Promise<ErrorDetail> {
  const { column, value } = named;
  const table = reference.table as RecordTable;
  const pointer = `${entry}/${named.field}`;
  const path = pathOfTable(table);
  if (records > 0) {
    return detailAt(
      pointer,
      `ambiguous: ${records} records of ${path} have this name: send ${reference.field} instead`,
    );
  }
  const list = codeListOf(table);
  if (column === "code" && list) {
    return detailAt(pointer, `invalid_code: ${expectedCode(list, value)}`);
  }
  const own = sql`r.organization_id = ${organization} and`;
  const key = column === "code" ? raw("search_key(r.code)") : nameKey(table);
  const [[nearest]] = await tx.send(unprepared(sql<{ word: string }>`
    select r.${raw(column)} as word
    from ${raw(table)} r
    where ${isShared(table) ? [] : own} ${key} % key_of_name(${value})
    order by similarity(${key}, key_of_name(${value})) desc, r.id
    limit 1
  `));
  const meant = nearest?.word;
  if (column === "code") {
    return detailAt(
      pointer,
      `invalid_code: Expected a code of ${path}${didYouMean(meant)}`,
    );
  }
  const remedy = isShared(table) ? `: see ${path}` : `: create it with POST ${path}`;
  return detailAt(
    pointer,
    `unknown_reference: There is no ${nounOf(table)} with this name${
      meant === undefined ? remedy : didYouMean(`"${meant}"`)
    }`,
  );
}
