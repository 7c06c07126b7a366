import { idOfCode } from "../../../../schema/code_ids.ts";
import { CODE_LISTS } from "../../../../schema/onix_codes.ts";
import { isAnyOf, organization, sql, unprepared } from "../../../../db/connections/sql.ts";
import type { Transaction } from "../../../../db/connections/transaction.ts";
import { lockSlots } from "../../../../db/products/change/keys.ts";
import { uuidv7 } from "../../../../db/uuid.ts";
import { insertRecords } from "./insert_records.ts";

/*
 * Finds the formats of product forms. A product has a format, which has a name and a form, and a
 * record has only a form. In: codes of List 150. Out: the organization's oldest format of each.
 */

/** The names of formats that are created. */
const LABELS = new Map(
  CODE_LISTS[150].codes.map(({ code, label }) => [code, label]),
);

/**
 * Returns the id of the oldest format with each of these forms. A missing format is created with
 * the form's label as its name.
 */
export async function findOrCreateFormats(
  tx: Transaction,
  forms: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  if (forms.size === 0) return new Map();
  const formOf = new Map(
    Array.from(forms, (form) => [idOfCode("150", form), form]),
  );
  const find = unprepared(sql<{ id: string; product_form_id: string }>`
    select f.id, f.product_form_id
    from formats f
    where f.organization_id = ${organization} and f.product_form_id ${isAnyOf([...formOf.keys()])}
    order by f.created_at desc, f.id desc
    for key share of f
  `);
  // Of several the oldest, which comes last.
  const byForm = (rows: { id: string; product_form_id: string }[]) =>
    new Map(rows.map((row) => [formOf.get(row.product_form_id)!, row.id]));

  const [found] = await tx.send(find);
  const known = byForm(found);
  const missing = [...formOf].filter(([, form]) => !known.has(form));
  if (missing.length === 0) return known;
  // The later of two concurrent imports finds the rows of the earlier one.
  const [, foundAgain] = await tx.send(
    lockSlots("formats", missing.map(([value]) => ({ kind: "formats", value }))),
    find,
  );
  const formats = byForm(foundAgain);
  const created = missing.flatMap(([product_form_id, form]) => {
    if (formats.has(form)) return [];
    const id = uuidv7();
    formats.set(form, id);
    return [{ id, name: LABELS.get(form), product_form_id }];
  });
  await tx.send(...insertRecords("formats", created));
  return formats;
}
