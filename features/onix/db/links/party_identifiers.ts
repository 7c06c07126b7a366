import type { Book } from "../../schema/mapping/mapped.ts";
import { elementOfField, type Reading } from "../../schema/mapping/reading.ts";
import { objectsIn } from "../../../../schema/objects.ts";
import {
  isOneOf,
  json,
  organization,
  raw,
  sql,
  type Statement,
} from "../../../../db/connections/sql.ts";
import type { Transaction } from "../../../../db/connections/transaction.ts";
import { followUpdates } from "../../../../db/renamed_records.ts";
import { nextUpdate } from "../../../../db/times.ts";

/*
 * Fills the identifiers of publishers and imprints. In: the identifiers in records. Out:
 * statements that give them to parties without identifiers.
 */

/** The fields of a product that name a party, and the tables of those. */
export const PARTIES = [
  ["publisher", "publishers"],
  ["imprint", "imprints"],
] as const;

/** The identifiers of a party in a record. */
export interface PartyIdentifiers {
  table: typeof PARTIES[number][1];
  id: string;
  identifiers: readonly object[];
}

/** Returns the identifiers of a record's parties, unless the product's party has some. */
export function identifiersIn(
  { record, values }: Reading,
  book: Book,
): PartyIdentifiers[] {
  return PARTIES.flatMap(([field, table]) => {
    const identifiers = objectsIn(values[`${field}_identifiers`]);
    if (identifiers.length === 0) return [];
    const id = elementOfField(record, field)?.id;
    const isFilled = id === book.product[`${field}_id`] &&
      book.identifiers[field].length > 0;
    return id && !isFilled ? [{ table, id, identifiers }] : [];
  });
}

/** Gives parties without identifiers those in records: the first of several. */
export function fillIdentifiers(
  tx: Transaction,
  parties: readonly PartyIdentifiers[],
): Statement[] {
  return Array.from(
    Map.groupBy(parties, ({ table }) => table),
    ([name, all]) => {
      const table = raw(name);
      const rows = new Map(all.toReversed().map((party) => [party.id, party]));
      const lacking = sql`
        select r.id, jsonb_build_object('identifiers', x.identifiers) as fields
        from jsonb_to_recordset(${json([...rows.values()])}) x (id uuid, identifiers jsonb)
        join ${table} r on r.organization_id = ${organization} and r.id = x.id
        where coalesce(r.identifiers, '[]') = '[]'
      `;
      const filled = sql`
        with lacking as materialized (
          select r.id
          from ${table} r
          where r.organization_id = ${organization} and r.id ${isOneOf([...rows.keys()])}
            and coalesce(r.identifiers, '[]') = '[]'
          order by r.id
          for no key update
        )
        update ${table} r
        set identifiers = x.identifiers, updated_at = ${nextUpdate("r.updated_at")}
        from jsonb_to_recordset(${json([...rows.values()])}) x (id uuid, identifiers jsonb)
        where r.organization_id = ${organization} and r.id = x.id
          and r.id in (select l.id from lacking l)
      `;
      return [...followUpdates(tx, name, lacking), filled];
    },
  ).flat();
}
