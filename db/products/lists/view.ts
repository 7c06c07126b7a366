import type { ListQuery } from "../../../schema/list_query.ts";
import { type Criteria, isOpen, type View } from "../../../schema/view.ts";
import { raw, sql, type Statement } from "../../connections/sql.ts";
import { filterConditions } from "./filters.ts";

/*
 * The conditions that a view contains product `p`. For example, `{ "selection": {
 * "publishing_status_code": ["04"] } }` selects active books.
 */

/** The criteria of a view. */
export type ViewCriteria = Pick<View, "selection" | "except">;

/** The conditions that the view has product `p`, each with a leading `and`. None without a view. */
export function viewConditions(view: ViewCriteria | undefined): Statement[] {
  if (!view || isOpen(view)) return [];
  const { selection, except } = view;
  return [
    ...criterionConditions(selection),
    // A null meets no criterion.
    ...except ? [sql` and (true ${criterionConditions(except)}) is not true`] : [],
  ];
}

/**
 * The conditions of criteria. A list of ids is prepared: there are as many statements as views, and
 * planning one takes longer than running it.
 */
function criterionConditions({ announced, ...filters }: Criteria): Statement[] {
  return [
    ...filterConditions(filters as unknown as ListQuery),
    ...announced ? [isAnnounced(announced)] : [],
  ].map((condition) => ({ ...condition, prepare: true }));
}

/** The roles of the dates (List 163) on which a product is announced. */
const ANNOUNCEMENT = { trade: "10", public: "09" };

/** The condition that product `p` is announced already. A year or a month begins on its first day. */
function isAnnounced(audience: keyof typeof ANNOUNCEMENT): Statement {
  return sql` and not exists (
    select
    from jsonb_array_elements(p.publishing_dates) d
    where d ->> 'publishing_date_role' = ${raw(`'${ANNOUNCEMENT[audience]}'`)}
      and left((d ->> 'date') || '-01-01', 10) > to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
  )`;
}
