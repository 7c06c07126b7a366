import * as v from "valibot";
import { Amount, Percent } from "./numbers.ts";
import { fields } from "./objects.ts";
import { Day, optional } from "./values.ts";

/** A field as bodies have it and as answers show it. Without `body`, bodies may repeat it, and it is ignored. */
interface Field {
  body?: v.GenericSchema;
  answer: v.GenericSchema;
}

export type Table = Record<string, Field>;

type Bodies<T extends Table> = {
  [F in keyof T as "body" extends keyof T[F] ? F : never]: T[F] extends
    { body: infer B extends v.GenericSchema } ? B : never;
};

type Answers<T extends Table> = { [F in keyof T]: T[F]["answer"] };

export function field<
  const B extends v.GenericSchema,
  const A extends v.GenericSchema,
>(body: B, answer: A) {
  return { body, answer };
}

/** A field that is the same in bodies and answers. */
export function same<const S extends v.GenericSchema>(schema: S) {
  return field(schema, schema);
}

const number = v.nullable(v.number());

export const amount = field(optional(Amount), number);

export const percent = field(optional(Percent), number);

export const day = field(optional(Day), v.nullable(Day));

/** An object with these fields, in a body and in an answer. */
export function entry<const T extends Table>(table: T) {
  const answered = Object.keys(table).filter((name) => !table[name]!.body);
  return {
    body: fields(bodies(table), answered),
    answer: v.object(answers(table)),
  };
}

/** The fields in bodies. */
export function bodies<const T extends Table>(table: T) {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, { body }]) =>
      body ? [[name, body]] : []
    ),
  ) as Bodies<T>;
}

/** The fields in answers. */
export function answers<const T extends Table>(table: T) {
  return Object.fromEntries(
    Object.entries(table).map(([name, { answer }]) => [name, answer]),
  ) as Answers<T>;
}
