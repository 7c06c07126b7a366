import { detailAt, type ErrorDetail } from "./errors.ts";
import { sentField } from "./named.ts";

/*
 * The product form is stored on a format. A body that changes it changes all products with that
 * format. Warnings, reports on sheets and histories show how many other products those are.
 */

/** A product form that a write has given to the format of its product. */
export interface SharedForm {
  /** The ids of the form before and after. */
  from: string | null;
  to: string | null;
  /** The name of the format. */
  format: string;
  /** The number of other products with the format. */
  products: number;
}

/** The warning about the other products, as `code: Sentence`, if there are any. */
export function sharedFormText({ format, products }: SharedForm): string | undefined {
  if (products === 0) return;
  const others = products === 1 ? "1 other product" : `${products} other products`;
  return `shared: The format "${format}" stores the product form: it changes for ${others}, too`;
}

/** The warning about other products, at the field of the body. `above` is the pointer to the body. */
export function sharedFormWarnings(
  form: SharedForm | undefined,
  body: Record<string, unknown>,
  above = "",
): ErrorDetail[] {
  const text = form && sharedFormText(form);
  return text ? [detailAt(`${above}/${sentField(body, "product_form_id")}`, text)] : [];
}
