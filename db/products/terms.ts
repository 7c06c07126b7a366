import { TERM_ARRAYS, type TERM_FILTERS } from "../../schema/list_query.ts";
import { joined, organization, raw, sql, type Statement } from "../connections/sql.ts";
import { isIdOf, type Write } from "./change.ts";
import { escapeLike } from "./search.ts";

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

/**
 * Selects the ids of the products with one of these terms, some of them twice. A subject that ends
 * in `*` is a prefix. Each part is a range of the primary key.
 */
export function selectTermed(
  filter: typeof TERM_FILTERS[number],
  values: readonly string[],
): Statement {
  const isBeginning = (value: string) => filter === "subject_code" && value.endsWith("*");
  const whole = values.filter((value) => !isBeginning(value))
    .map((value) => sql`term_of(${value})`);
  const parts = [
    ...whole.length > 0 ? [sql`x.term in (${joined(whole)})`] : [],
    ...values.filter(isBeginning).map((value) =>
      sql`x.term like ${escapeLike(value.slice(0, -1)) + "%"}`
    ),
  ].map((condition) =>
    sql`
      select x.product_id
      from product_terms x
      where x.organization_id = ${organization}
        and x.field = ${raw(`'${filter}'`)} and ${condition}
    `
  );
  return joined(parts, " union all ");
}
