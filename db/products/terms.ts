import { TERM_ARRAYS, type TERM_FILTERS } from "../../schema/list_query.ts";
import {
  isOneOf,
  joined,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Change } from "./change.ts";
import { escapeLike } from "./search.ts";

/*
 * The table `product_terms` has the codes and values in arrays of values by which lists are
 * filtered. The service maintains it with the arrays, and triggers for SQL scripts.
 */

/** Writes the terms of products whose arrays the bodies have. */
export function writeTerms(changes: readonly Change[]): Statement[] {
  const ids = (isNew: boolean) =>
    changes.flatMap(({ id, body, ...change }) => {
      const given = TERM_ARRAYS.flatMap((name) => body[name] ?? []);
      const isGiven = TERM_ARRAYS.some((name) => body[name]);
      return change.isNew === isNew && (isNew ? given.length > 0 : isGiven)
        ? [id]
        : [];
    });
  const [created, changed] = [ids(true), ids(false)];
  return [
    ...changed.length > 0 ? [forgetTerms(isOneOf(changed))] : [],
    ...created.length + changed.length > 0
      ? [indexTerms(isOneOf([...created, ...changed]))]
      : [],
  ];
}

/** Deletes the terms that products with these ids no longer have. */
export function forgetTerms(areIds: Statement): Statement {
  return sql`
    delete from product_terms x
    where x.organization_id = ${organization} and x.product_id ${areIds}
      and (x.product_id, x.field, x.term) not in (${termsOf(areIds)})
  `;
}

/** Inserts the terms of products with these ids. */
export function indexTerms(areIds: Statement): Statement {
  return sql`
    insert into product_terms (organization_id, product_id, field, term)
    select p.organization_id, p.id, t.field, t.term
    from products p
    cross join lateral terms_of(p.languages, p.subjects, p.product_identifiers) t
    where p.organization_id = ${organization} and p.id ${areIds}
    on conflict (organization_id, field, term, product_id) do nothing
  `;
}

function termsOf(areIds: Statement): Statement {
  return sql`
    select p.id, t.field, t.term
    from products p
    cross join lateral terms_of(p.languages, p.subjects, p.product_identifiers) t
    where p.organization_id = ${organization} and p.id ${areIds}
  `;
}

/**
 * Selects the ids of the products with one of these terms, some of them twice. A subject
 * that ends in `*` is a beginning. Each part is a range of the primary key.
 */
export function termed(
  filter: typeof TERM_FILTERS[number],
  values: readonly string[],
): Statement {
  const isBeginning = (value: string) =>
    filter === "subject_code" && value.endsWith("*");
  const whole = values.filter((value) => !isBeginning(value));
  const parts = [
    ...whole.length > 0
      ? [
        sql`x.term in (${
          joined(whole.map((value) => sql`term_of(${value})`))
        })`,
      ]
      : [],
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
