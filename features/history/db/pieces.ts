import { organization, sql, type Statement } from "../../../db/connections/sql.ts";
import { sizeOfDocument } from "../../../db/products/documents/document.ts";

/** A position among the versions of an organization, in the order of time and product. */
export interface VersionPosition {
  at: string;
  id: string;
}

export function positionOf({ at, id }: VersionPosition): Statement {
  return sql`(${at}::timestamptz, ${id}::uuid)`;
}

/** The next piece of a walk over the versions of an organization. */
interface Piece {
  /** What is selected of its last version `d`. */
  shown: Statement;
  /** The columns by which versions are walked. */
  order: Statement;
  /** The condition that version `d` comes after the piece before. */
  isNext: Statement;
  maxVersions: number;
  /** The size of the versions before the last one, in bytes. */
  maxBytes: number;
}

/** The last version of a piece: it has at least one version, however large. */
export function endOfPiece<Position extends object>(
  { shown, order, isNext, maxVersions, maxBytes }: Piece,
): Statement<Position> {
  return sql<Position>`
    select ${shown}
    from (
      select
        d.*,
        row_number() over (order by ${order}) as place,
        sum(d.size) over (order by ${order}) - d.size as bytes_before
      from (
        select d.product_id, d.change_version, d.changed_at, ${sizeOfDocument} as size
        from product_documents d
        where d.organization_id = ${organization} and ${isNext}
        order by ${order}
        limit ${maxVersions}
      ) d
    ) d
    where d.bytes_before < ${maxBytes}
    order by d.place desc
    limit 1
  `;
}
