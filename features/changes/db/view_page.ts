import { unavailable } from "../../../schema/errors.ts";
import type { View } from "../../../schema/view.ts";
import { pause } from "../../../db/connections/deadline.ts";
import { json, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { checkView } from "./check_view.ts";
import type { FollowedView } from "./view_state.ts";

/*
 * Makes the pages of the feed of a view. A page first has the products of the view checked
 * (`check_view.ts`), and is then read from a later snapshot of the database. If the view was edited in
 * between, the page is made again.
 */

/** Thrown if the view has changed since its products were checked. */
export class StaleView extends Error {}

/** The maximum number of attempts to make a page with the same view. */
const MAX_TIMES = 20;

/**
 * Makes a page of the feed of a view, and again while the view differs in its snapshot. Otherwise a
 * product that entered by one view and is hidden by the other would never be shown.
 */
export async function withView<P>(
  database: Queries,
  view: View | undefined,
  isFetch: boolean,
  make: (followed: FollowedView | undefined) => Promise<P>,
): Promise<P> {
  if (!view) return await make(undefined);
  for (let times = 0; times < MAX_TIMES; times++) {
    try {
      return await make(await checkView(database, view, isFetch));
    } catch (error) {
      if (!(error instanceof StaleView)) throw error;
      // A replica may not have the view yet.
      await pause(25 * times);
    }
  }
  throw unavailable("The recipient is being edited");
}

/** Whether a recipient has the same view in the snapshot of the statement, as an expression. */
export function isSameView(followed: FollowedView | undefined): Statement {
  if (!followed) return raw("true");
  const { view, refreshed } = followed;
  return sql`coalesce((
    select r.view || jsonb_build_object('id', r.id) = ${json(view)}
      and r.refreshed_version = ${refreshed}::bigint
    from recipients r
    where r.organization_id = ${organization} and r.id = ${view.id}
  ), false)`;
}
