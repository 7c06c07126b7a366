import { detailAt, type ErrorDetail, MAX_ERRORS, withHint } from "./errors.ts";
import { type Fields, isName } from "./fields.ts";
import { Named, sentField } from "./named.ts";
import { isEqual, isObject } from "./objects.ts";
import { FIELDS } from "./product.ts";
import { RECORDS } from "./records.ts";

/*
 * Finds the fields of bodies that are accepted and ignored. They are accepted so that a client can send
 * back what GET returned. The header `Ignored-Fields` names all of them. If an ignored field has
 * another value than the response, the client wanted to change it: `warnings` then lists it. For
 * example, `publisher_name` is ignored if the body has `publisher_id` too. If it names another
 * publisher, there is a warning.
 */

/** A field of a body that was ignored. */
export interface Ignored {
  /** Its name, with those of its arrays: `contributors.contributor_name`. */
  name: string;
  /** A JSON Pointer to it in the body. */
  pointer: string;
  /** Its value, and a JSON Pointer to the value in the response. */
  value?: unknown;
  answer?: string;
  /** Why it has no effect, if the field itself does not explain it. */
  reason?: string;
}

/** The names of ignored fields, each once. */
export function distinctNames(ignored: readonly Ignored[]): string[] {
  return [...new Set(ignored.map(({ name }) => name))];
}

/** Why the product form of a body has no effect. */
export const UNUSED_FORM = withHint(
  "The product has no format that stores its form",
  "send format_id or format_name, too",
);

/** The product form of this body, for a product without a format that could store it. */
export function unusedForm(body: Record<string, unknown>): Ignored {
  const name = sentField(body, "product_form_id");
  return { name, pointer: `/${name}`, reason: UNUSED_FORM };
}

/** Finds the fields that a schema has dropped from a valid body. */
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
      } else if (!isUsed(name, input, output)) {
        ignored.push({ ...at, answer: at.pointer, value });
      }
    }
  }
}

/** Whether the field was used in place of an id, or to clear it. */
function isUsed(
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

/** The reasons why fields are ignored, by name. */
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

/** The warnings about ignored fields whose values differ from this response. */
export function warningsOf(
  ignored: readonly Ignored[],
  data: unknown,
): ErrorDetail[] {
  return ignored
    .filter((one) => differsFromResponse(one, data))
    .slice(0, MAX_ERRORS)
    .map(({ name, pointer, reason = REASONS.get(name) ?? SHOWN_ONLY }) =>
      detailAt(pointer, `ignored: ${reason}`)
    );
}

/** Fields that are not compared: every write changes `updated_at`, and responses to writes lack `products`. */
const NOT_COMPARED = ["updated_at", "products"];

/** Whether the response has another value, or a reason explains why the field has no effect. */
function differsFromResponse(
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
