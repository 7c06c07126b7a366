import { organization, sql, type Statement, unprepared } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { endOfPiece } from "./pieces.ts";
import { NIL_UUID } from "../../../db/uuid.ts";
import { ERASED_BYTES } from "../../../db/sizes.ts";

/*
 * Erases a contributor from the history. An erased version keeps its place, time and author, but
 * loses its JSON. It is kept so that the versions before and after it are not compared with each
 * other. The versions are read in pieces, by primary key.
 */

/** The maximum number of versions in a piece. */
const MAX_VERSIONS = 1_000;

/** The key of a version. */
interface VersionKey {
  id: string;
  version: string;
}

/**
 * Erases the versions of all products that show a contributor, except current ones, and the ONIX
 * records of deleted products that show it. Returns the number of versions.
 */
export async function eraseContributor(
  database: Queries,
  contributor: string,
): Promise<number> {
  let erased = 0;
  let after: VersionKey = { id: NIL_UUID, version: "0" };
  for (;;) {
    const [end] = await database.scan(endOfErased(after));
    if (!end) return erased;
    const [, versions] = await database.write(...erasePiece(after, end, contributor));
    erased += versions.count;
    after = end;
  }
}

function keyOf({ id, version }: VersionKey): Statement {
  return sql`(${id}::uuid, ${version}::bigint)`;
}

/** The last version of the piece after this key. */
function endOfErased(after: VersionKey): Statement<VersionKey> {
  return unprepared(endOfPiece({
    shown: sql`d.product_id as id, d.change_version::text as version`,
    order: sql`d.product_id, d.change_version`,
    isNext: sql`(d.product_id, d.change_version) > ${keyOf(after)}`,
    maxVersions: MAX_VERSIONS,
    maxBytes: ERASED_BYTES,
  }));
}

/** Erases in a piece of the history, first the ONIX records. */
function erasePiece(after: VersionKey, end: VersionKey, contributor: string) {
  const isInPiece = sql`
    d.organization_id = ${organization}
    and (d.product_id, d.change_version) > ${keyOf(after)}
    and (d.product_id, d.change_version) <= ${keyOf(end)}
  `;
  // Quotes in texts are escaped, so no text contains this.
  const isShown = sql`strpos(
    d.details, '"contributor_id":"' || ${contributor}::uuid || '"'
  ) > 0`;
  return [
    // The record may show the contributor even if no version does. It has the ids of the records
    // that it refers to.
    unprepared(sql`
      update product_documents x
      set onix = '{}'
      where x.organization_id = ${organization} and x.event = 'deleted' and x.onix <> '{}'
        and x.product_id = any (array(
          select d.product_id
          from product_documents d
          where ${isInPiece} and (${isShown} or strpos(d.onix::text, ${contributor}::uuid::text) > 0)
        ))
    `),
    unprepared(sql`
      update product_documents d
      set event = 'erased', names_version = -1, summary = '', details = '', source = null
      where ${isInPiece} and ${isShown} and exists (
        select from product_documents n
        where n.organization_id = ${organization} and n.product_id = d.product_id
          and n.change_version > d.change_version
      )
    `),
  ] as const;
}
