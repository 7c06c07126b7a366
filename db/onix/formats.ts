import { idOfCode } from "../../schema/code_ids.ts";
import { CODE_LISTS } from "../../schema/onix_codes.ts";
import { isAnyOf, organization, sql, unprepared } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { lockKeys } from "../products/keys.ts";
import { uuidv7 } from "../uuid.ts";

/*
 * The formats that stand for product forms. In: codes of List 150. Out: the organization's
 * format of each. A format has a name and a form, and a product has a format, so a record
 * that says a form alone needs one.
 */

/** What a form without a format is called. */
const LABELS = new Map(
  CODE_LISTS[150].codes.map(({ code, label }) => [code, label]),
);

/** The id of the oldest format with each of these forms. What is missing is created under the form's label. */
export async function findFormats(
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
  // Of imports at once the later one finds what the earlier one has created.
  const [, foundAgain] = await tx.send(
    lockKeys(missing.map(([value]) => ({ kind: "formats", value }))),
    find,
  );
  const formats = byForm(foundAgain);
  const inserts = [...formOf].flatMap(([formId, form]) => {
    if (formats.has(form)) return [];
    const id = uuidv7();
    formats.set(form, id);
    return [sql`
      insert into formats (organization_id, id, name, product_form_id)
      values (${organization}, ${id}, ${LABELS.get(form)!}, ${formId})
    `];
  });
  await tx.send(...inserts);
  return formats;
}
