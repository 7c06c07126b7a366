import type { Book } from "../../schema/onix/mapping/mapped.ts";
import { elementOfField, type Reading } from "../../schema/onix/mapping/reading.ts";
import { objectsIn } from "../../schema/objects.ts";
import { isOneOf, json, organization, raw, sql, type Statement } from "../connections/sql.ts";
import { nextUpdate } from "../times.ts";

/*
 * The identifiers of publishers and imprints. In: what records say of the parties that they
 * are linked to. Out: statements that give them to parties without any.
 */

/** The fields of a product that name a party, and the tables of those. */
export const PARTIES = [
  ["publisher", "publishers"],
  ["imprint", "imprints"],
] as const;

/** The identifiers that a record says of a party. */
export interface PartyIdentifiers {
  table: typeof PARTIES[number][1];
  id: string;
  identifiers: readonly object[];
}

/** What a record says of the identifiers of its parties, unless the product's party has some. */
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

/** Gives parties without identifiers those that records say of them: of several, the first. */
export function fillIdentifiers(
  parties: readonly PartyIdentifiers[],
): Statement[] {
  return Array.from(
    Map.groupBy(parties, ({ table }) => table),
    ([name, all]) => {
      const table = raw(name);
      const rows = new Map(all.toReversed().map((party) => [party.id, party]));
      return sql`
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
    },
  );
}
