import { organization, sql } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import { sizeOfDocument } from "../../../db/products/documents/document.ts";
import { MAX_RESPONSE_BYTES } from "../../../db/sizes.ts";
import { rfc3339 } from "../../../db/times.ts";
import type { Pace } from "../../../schema/turns.ts";
import { changedBy, type VersionAuthor } from "../schema/history.ts";
import type { UndoMessage } from "../schema/undo.ts";
import { authorColumns, keyOfAuthor } from "./history.ts";
import { ProductState, stateColumns, stateOf, type StateRow } from "./state.ts";
import { changedNames } from "./undo_plan.ts";
import { isOfRequest, type UndoneWithin } from "./undo_states.ts";

/*
 * Finds who has changed a field since the request that is undone. The field stays, and the report
 * names the author.
 */

/** The maximum number of versions that are searched for the author of a later change. */
const MAX_LATER = 20;

interface LaterRow extends VersionAuthor, StateRow {
  at: string;
  event: string;
  /** The bytes of this version and of those after it. */
  total: number;
}

/** Finds the authors of later changes of a group's products. */
export class LaterChanges {
  readonly #tx: Transaction;
  readonly #undone: UndoneWithin;
  readonly #pace: Pace;
  /** The bytes of versions that may still be read. Without room, no author is named. */
  #room = MAX_RESPONSE_BYTES;

  constructor(tx: Transaction, undone: UndoneWithin, pace: Pace) {
    this.#tx = tx;
    this.#undone = undone;
    this.#pace = pace;
  }

  /**
   * Returns a message for each of these fields, or for the product itself (""). It has the author of
   * the last change, if the versions that are read show it.
   */
  async messages(id: string, names: readonly string[]): Promise<UndoMessage[]> {
    const authors = await this.#findAuthors(id, names);
    return names.map((name) => {
      const made = authors.get(name);
      const what = name === "" ? "The product" : `"${name}"`;
      return {
        severity: "warning",
        code: "changed_since",
        pointer: name && `/${name}`,
        message: made
          ? `${what} was changed at ${made.at} by ${authorText(made)}: it stays as it is`
          : `${what} was changed since: it stays as it is`,
      };
    });
  }

  async #findAuthors(id: string, names: readonly string[]): Promise<Map<string, LaterRow>> {
    const rows = await this.#read(id);
    const authors = new Map<string, LaterRow>();
    const [newest] = rows;
    if (newest && (rows.length > 1 || newest.event === "deleted")) authors.set("", newest);
    for (const [i, row] of rows.slice(0, -1).entries()) {
      const before = rows[i + 1]!;
      const changed = before.event === "deleted" ? names : await this.#changedNames(before, row);
      if (!changed) break;
      for (const name of changed) if (!authors.has(name)) authors.set(name, row);
    }
    return authors;
  }

  /** Returns the fields that a version changed, unless it or the version before is erased. */
  async #changedNames(before: LaterRow, after: LaterRow): Promise<string[] | undefined> {
    const [one, other] = [stateOf(before), stateOf(after)];
    if (!one || !other) return;
    return await changedNames(...await ProductState.differing(one, other, this.#pace), this.#pace);
  }

  /** Reads the versions since the request, and its last one, as many as there is room for. */
  async #read(id: string): Promise<LaterRow[]> {
    const { request, start, own } = this.#undone;
    const [rows] = await this.#tx.send(sql<LaterRow>`
      select
        ${rfc3339("d.changed_at")} as at, d.event, ${authorColumns}, ${stateColumns},
        d.total::float8
      from (
        select d.*, sum(${sizeOfDocument}) over (order by d.change_version desc) as total
        from (
          select d.*
          from product_documents d
          where d.organization_id = ${organization} and d.product_id = ${id}
            and d.change_version < ${own}::bigint and d.change_version >= (
              select max(l.change_version)
              from product_documents l
              where l.organization_id = ${organization} and l.product_id = ${id}
                and ${isOfRequest("l", request)} and l.change_version < ${start}::bigint
            )
          order by d.change_version desc
          limit ${MAX_LATER + 1}
        ) d
      ) d
      ${keyOfAuthor}
      where d.total <= ${this.#room}::float8
      order by d.change_version desc
    `);
    this.#room -= rows.at(-1)?.total ?? 0;
    return rows;
  }
}

function authorText(author: VersionAuthor): string {
  const { kind, id, name } = changedBy(author);
  return [kind, id, name && `(${name})`, author.operation && `with ${author.operation}`]
    .filter(Boolean).join(" ");
}
