import * as v from "valibot";
import { Amount, Percent } from "./numbers.ts";
import { fields } from "./objects.ts";
import { Day, optional } from "./values.ts";

/** A field's schemas in request bodies and in responses. Without `body`, a body may contain the field, and it is ignored. */
interface Field {
  body?: v.GenericSchema;
  answer: v.GenericSchema;
}

export type Fields = Record<string, Field>;

type Bodies<T extends Fields> = {
  [F in keyof T as "body" extends keyof T[F] ? F : never]: T[F] extends
    { body: infer B extends v.GenericSchema } ? B : never;
};

type Answers<T extends Fields> = { [F in keyof T]: T[F]["answer"] };

export function field<
  const B extends v.GenericSchema,
  const A extends v.GenericSchema,
>(body: B, answer: A) {
  return { body, answer };
}

/** A field with the same schema in bodies and responses. */
export function same<const S extends v.GenericSchema>(schema: S) {
  return field(schema, schema);
}

const number = v.nullable(v.number());

export const amount = field(optional(Amount), number);

export const percent = field(optional(Percent), number);

export const day = field(optional(Day), v.nullable(Day));

/** The schemas of an object with these fields, in bodies and in responses. */
export function entry<const T extends Fields>(entries: T) {
  const answered = Object.keys(entries).filter((name) => !entries[name]!.body);
  return {
    body: fields(bodies(entries), answered),
    answer: v.object(answers(entries)),
  };
}

/** The schemas of the fields in bodies. */
export function bodies<const T extends Fields>(entries: T) {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, { body }]) =>
      body ? [[name, body]] : []
    ),
  ) as Bodies<T>;
}

/** The schemas of the fields in responses. */
export function answers<const T extends Fields>(entries: T) {
  return Object.fromEntries(
    Object.entries(entries).map(([name, { answer }]) => [name, answer]),
  ) as Answers<T>;
}
