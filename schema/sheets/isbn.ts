import * as v from "valibot";
import { Isbn10 } from "../values.ts";

/** Whether the digits are an ISBN-10. */
export function isIsbn10(isbn: string): boolean {
  return v.is(Isbn10, isbn);
}
