import type { Entry } from "../../../schema/bodies.ts";
import { parsePieces } from "../../../schema/json_pieces.ts";
import { inTurns, type Pace } from "../../../schema/turns.ts";
import { isProjecting, projected, type View } from "../../../schema/view.ts";
import { parseProduct } from "./document.ts";

/*
 * Shows the JSON of products as a view has it. Without a view, or one that hides nothing, the text
 * stays unparsed. Other requests run in between.
 */

/** A view, and the pace of the request that reads with it. */
export interface PacedView {
  view: View;
  pace: Pace;
}

/** A product as the view shows it. */
export async function projectedText(
  product: string,
  paced: PacedView | undefined,
): Promise<string> {
  if (!paced || !isProjecting(paced.view)) return product;
  const { view, pace } = paced;
  return JSON.stringify(projected(await parseProduct(product, pace), view));
}

/** A JSON array of products, or of entries that have them as `product`, as the view shows them. */
export async function projectedArray(
  text: string,
  paced: PacedView | undefined,
  inner?: "product",
): Promise<string> {
  if (!paced || !isProjecting(paced.view)) return text;
  const { view, pace } = paced;
  const entries = await inTurns(parsePieces(text), pace) as Entry[];
  const shown: string[] = [];
  for (const entry of entries) {
    await pace();
    const product = (inner ? entry[inner] : entry) as Entry | undefined;
    const seen = product && projected(product, view);
    shown.push(JSON.stringify(inner ? { ...entry, ...seen && { [inner]: seen } } : seen));
  }
  return `[${shown.join(",")}]`;
}
