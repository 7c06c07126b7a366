import { detailAt, type ErrorDetail, MAX_ERRORS } from "./errors.ts";
import { type Fields, isName } from "./fields.ts";
import { Named, sentField } from "./named.ts";
import { isEqual, isObject } from "./objects.ts";
import { FIELDS } from "./product.ts";
import { RECORDS } from "./records.ts";

/*
 * The fields of bodies that are accepted and ignored, so that what GET returned can be sent
 * back. `Ignored-Fields` names all of them. Those that say something else than the answer
 * are warnings in it: somebody wanted to change them.
 */

/** A field of a body that was ignored. */
export interface Ignored {
  /** Its name, after those of the arrays that it is in: `contributors.contributor_name`. */
  name: string;
  /** A JSON Pointer to it in the body. */
  pointer: string;
  /** What it says, and a JSON Pointer to what the answer says instead. */
  value?: unknown;
  answer?: string;
  /** Why it has no effect, if not for what the field is. */
  reason?: string;
}

/** The product form of this body, for a product without a format that could store it. */
export function unusedForm(body: Record<string, unknown>): Ignored {
  const name = sentField(body, "product_form_id");
  const reason =
    "The product has no format that stores its form: send format_id or format_name, too";
  return { name, pointer: `/${name}`, reason };
}

/** The fields of a valid body that its schema dropped. */
export function ignoredIn(input: unknown, output: unknown): Ignored[] {
  const ignored: Ignored[] = [];
  collect(input, output, { name: "", pointer: "" }, ignored);
  return ignored;
}

function collect(
  input: unknown,
  output: unknown,
  above: Pick<Ignored, "name" | "pointer">,
  ignored: Ignored[],
): void {
  if (Array.isArray(input) && Array.isArray(output)) {
    for (const [i, entry] of input.entries()) {
      const pointer = `${above.pointer}/${i}`;
      collect(entry, output[i], { ...above, pointer }, ignored);
    }
  } else if (isObject(input) && isObject(output)) {
    for (const [name, value] of Object.entries(input)) {
      const at = {
        name: above.name ? `${above.name}.${name}` : name,
        pointer: `${above.pointer}/${name}`,
      };
      if (Object.hasOwn(output, name)) {
        if (typeof value === "object") {
          collect(value, output[name], at, ignored);
        }
      } else if (!stands(name, input, output)) {
        ignored.push({ ...at, answer: at.pointer, value });
      }
    }
  }
}

/** Whether the field has stood for an id, or has cleared it. */
function stands(
  name: string,
  input: Record<string, unknown>,
  output: Record<string, unknown>,
): boolean {
  const reference = REFERENCE_OF.get(name);
  if (!reference || Object.hasOwn(input, reference)) return false;
  const id = output[reference];
  return id instanceof Named ? id.field === name : id === null && input[name] === null;
}

/** The references for which names and codes can stand. */
const REFERENCE_OF = new Map<string, string>();

/** Why fields are ignored, by their names. */
const REASONS = new Map<string, string>();

function collectReasons(fields: Fields, above = ""): void {
  for (const [name, field] of Object.entries(fields)) {
    if (field.kind === "shown" && isName(field)) {
      const { reference } = field;
      REFERENCE_OF.set(name, reference);
      REASONS.set(
        above + name,
        `${reference} counts: to change it by ${name}, leave ${reference} out`,
      );
    } else if (field.kind === "rows") {
      if (field.path) {
        REASONS.set(name, `PUT /products/{id}/${field.path} changes it`);
      }
      collectReasons(field.fields, `${name}.`);
    }
  }
}

for (const { fields } of Object.values(RECORDS)) collectReasons(fields);
collectReasons(FIELDS);

const SHOWN_ONLY = "Only responses have it: it changes nothing";

/** The warnings about ignored fields of which this answer says something else. */
export function warningsOf(
  ignored: readonly Ignored[],
  data: unknown,
): ErrorDetail[] {
  return ignored
    .filter((one) => saysOtherwise(one, data))
    .slice(0, MAX_ERRORS)
    .map(({ name, pointer, reason = REASONS.get(name) ?? SHOWN_ONLY }) =>
      detailAt(pointer, `ignored: ${reason}`)
    );
}

/** Every write moves the one, and answers to writes lack the other. */
const NOT_COMPARED = ["updated_at", "products"];

function saysOtherwise(
  { name, answer, value, reason }: Ignored,
  data: unknown,
): boolean {
  if (reason !== undefined) return true;
  if (answer === undefined || NOT_COMPARED.includes(name)) return false;
  const keys = answer.slice(1).split("/");
  const last = keys.pop()!;
  const above = keys.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | undefined)?.[key],
    data,
  );
  return isObject(above) && !isEqual(value ?? null, above[last] ?? null);
}
