import { fc } from "../support/app/packages.ts";
import { type Errors, leastObject } from "../support/data/faults.ts";
import type { Field, Fields, Rows } from "../support/data/fields.ts";

/*
 * Bodies drawn from the description of the fields: mostly values that each field takes,
 * rarely one that it refuses.
 */

// deno-lint-ignore no-explicit-any
export type Any = any;

/** Draws a value of an arbitrary: `fc.gen()`. */
export type Draw = fc.GeneratorValue;

/** The ids of records that a reference may have, by table. */
export type Ids = Record<string, string[]>;

export interface Drawn {
  body: Any;
  /** The values that were refused, with their codes. */
  refused: Errors;
}

/** A body of a product. One that updates it may name the rows that it shows. */
export function bodyOf(
  draw: Draw,
  fields: Fields,
  ids: Ids,
  shown?: Any,
): Drawn {
  const refused: Errors = [];
  const isLucky = (among: number) => draw(fc.nat, { max: among - 1 }) === 0;
  const isFaulty = isLucky(4);
  const isWrong = () => isFaulty && isLucky(20);
  const first = Object.fromEntries(
    Object.entries(ids).map(([table, [id]]) => [table, id!]),
  );

  function objectOf(fields: Fields, least: Any, at: string, one: number): Any {
    const chosen = Object.entries(fields).flatMap(([name, field]) => {
      const value = isLucky(one) ? valueOf(field, `${at}/${name}`, shown?.[name]) : undefined;
      return value === undefined ? [] : [[name, value]];
    });
    return { ...least, ...Object.fromEntries(chosen) };
  }

  function valueOf(field: Field, at: string, rows: Any[] = []): unknown {
    if ("rows" in field) return entriesOf(field, at, rows);
    if ("fields" in field) {
      return objectOf(field.fields, leastObject(field.fields, first), at, 2);
    }
    if (field.refers) {
      const unknown = crypto.randomUUID();
      const id = isWrong() ? unknown : draw(fc.constantFrom, ...ids[field.refers]!);
      if (id === unknown) refused.push([at, "unknown_reference"]);
      return id;
    }
    const takes = field.takes.filter(([sent]) => isShort(sent));
    if (takes.length === 0) return undefined;
    const refuses = field.refuses.filter(([sent]) => isShort(sent));
    if (refuses.length === 0 || !isWrong()) {
      return draw(fc.constantFrom, ...takes)[0];
    }
    const [sent, code, part = ""] = draw(fc.constantFrom, ...refuses);
    refused.push([at + part, code]);
    return sent;
  }

  /** Up to two entries, of which each may be that of a row. Equal ones would be refused. */
  function entriesOf(array: Rows, at: string, rows: Any[]): Any[] {
    const min = array.isRequired ? 1 : 0;
    const max = array.key || array.isDistinct ? 1 : 2;
    const count = draw(fc.integer, { min, max });
    const ids = new Set<string>();
    return Array.from({ length: count }, (_, i) => {
      const place = `${at}/${i}`;
      const type = array.types &&
        draw(fc.constantFrom, ...Object.keys(array.types));
      const fields = type ? array.types![type]! : array.rows;
      const least = {
        ...type && { collateral_type: type },
        ...leastObject(fields, first),
      };
      const row = rows[i];
      if (!array.hasIds || !row?.id || ids.has(row.id) || isLucky(2)) {
        return objectOf(fields, least, place, 3);
      }
      ids.add(row.id);
      const own = array.types?.[row.collateral_type] ?? array.rows;
      return objectOf(own, { id: row.id }, place, 3);
    });
  }

  return {
    body: objectOf(fields, shown ? {} : leastObject(fields, first), "", 5),
    refused,
  };
}

/** Whether a body can have many of these: `tests/input/fields_test.ts` sends the longest. */
function isShort(value: unknown): boolean {
  return (JSON.stringify(value) ?? "").length < 300;
}
