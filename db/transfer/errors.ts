import { json, organization, sql } from "../connections/sql.ts";
import {
  detailAt,
  type ErrorDetail,
  refusedBy,
  seriesNotAttached,
  unknownReference,
} from "../../schema/errors.ts";
import { referencesOfLine, repeatedRows } from "../../schema/lines.ts";
import { DUPLICATE } from "../../schema/objects.ts";
import { brokenConstraint } from "../connections/errors.ts";
import type { Queries } from "../database.ts";
import { TOO_LARGE, unknownReferences } from "../products/errors.ts";
import type { RecordLine } from "./lines.ts";

/** The errors of a valid line that the database has refused, in the words of the API. */
export async function explainLine(
  database: Queries,
  line: RecordLine,
  error: unknown,
): Promise<ErrorDetail[]> {
  const { kind, record } = line;
  const ids = referencesOfLine(kind, record);
  const unknown = await database.lookUp(unknownReferences(ids));
  if (unknown.length > 0) {
    return unknown.map(({ pointer }) => unknownReference(pointer));
  }
  const constraint = brokenConstraint(error);
  const table = /^(\w+)_pkey$/.exec(constraint ?? "")?.[1];
  const repeated = table ? repeatedRows(kind, record, table) : [];
  if (repeated.length > 0) {
    return repeated.map((pointer) => detailAt(pointer, DUPLICATE));
  }
  switch (constraint) {
    case "onix_aliases_pkey":
      return await usedAliases(database, line);
    case "onix_records_by_reference":
      return [referenceInUse("/onix_records/0/record_reference")];
    case "products_series":
      return [seriesNotAttached("/series_id")];
    case "product_documents_size":
      return [TOO_LARGE];
    case "products_code":
      return [
        detailAt("/product_code", "duplicate: Another product has this code"),
      ];
  }
  return [refusedBy(error, "record")];
}

/** The errors of the ONIX references of a product that other products have. */
async function usedAliases(
  database: Queries,
  { id, record }: RecordLine,
): Promise<ErrorDetail[]> {
  const { onix_aliases } = record as {
    onix_aliases: { record_reference: string }[];
  };
  const used = await database.lookUp(sql<{ record_reference: string }>`
    select a.record_reference
    from onix_aliases a
    join jsonb_to_recordset(${json(onix_aliases)}) r (record_reference text)
      on r.record_reference = a.record_reference
    where a.organization_id = ${organization} and a.product_id <> ${id}
  `);
  const references = new Set(used.map((row) => row.record_reference));
  return onix_aliases.flatMap(({ record_reference }, i) =>
    references.has(record_reference)
      ? [referenceInUse(`/onix_aliases/${i}/record_reference`)]
      : []
  );
}

function referenceInUse(pointer: string): ErrorDetail {
  return detailAt(pointer, "duplicate: Another product has this reference");
}
