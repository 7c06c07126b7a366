import { TERM_ARRAYS } from "../../../schema/list_query.ts";
import { organization, sql, type Statement } from "../../connections/sql.ts";
import { isIdOf, type Write } from "../change/change.ts";

/*
 * Maintains the table `product_terms`: the codes and values in arrays by which lists are filtered.
 * Triggers write the same rows for SQL scripts.
 */

/** Writes the terms of products whose arrays the bodies have. */
export function writeTerms(changes: readonly Write[]): Statement[] {
  const given = changes.filter(({ method, body }) => {
    const entries = TERM_ARRAYS.flatMap((name) => body[name] ?? []);
    return method === "create" ? entries.length > 0 : TERM_ARRAYS.some((name) => body[name]);
  });
  if (given.length === 0) return [];
  const existing = given.filter(({ method }) => method === "update");
  return [
    ...existing.length > 0 ? [deleteTerms(existing)] : [],
    sql`
      insert into product_terms (organization_id, product_id, field, term)
      select p.organization_id, p.id, t.field, t.term ${termsOf(given)}
      on conflict (organization_id, field, term, product_id) do nothing
    `,
  ];
}

/** Deletes the terms that the products no longer have. */
function deleteTerms(changes: readonly Write[]): Statement {
  return sql`
    delete from product_terms x
    where x.organization_id = ${organization} and x.product_id ${isIdOf(changes)}
      and (x.product_id, x.field, x.term) not in (
        select p.id, t.field, t.term ${termsOf(changes)}
      )
  `;
}

/** The FROM and WHERE of the terms `t` of these products `p`. */
function termsOf(changes: readonly Write[]): Statement {
  return sql`
    from products p
    cross join lateral terms_of(p.languages, p.subjects, p.product_identifiers, p.product_form_features) t
    where p.organization_id = ${organization} and p.id ${isIdOf(changes)}
  `;
}
