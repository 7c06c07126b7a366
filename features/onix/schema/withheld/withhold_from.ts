import { elementsLeftOut, isPriceSeen, type View } from "../../../../schema/view.ts";
import { limits } from "../rules/limits.ts";
import { childValue, type Element } from "../xml/element.ts";
import { isbnOf } from "../valid/converted.ts";
import { corporateNameIn } from "../valid/text_sources.ts";

/*
 * Withholds what a recipient does not see. In: a finished record, and the view of the recipient. Out:
 * the same record with elements marked, also those that no field holds. `repair` leaves out what is
 * marked, and writes what the schema then demands.
 *
 * With `leave_out: ["Stock"]`, each `<Stock>` is marked. With `currencies: ["EUR"]`, each other price
 * is, and a supply without a price left gets `<UnpricedItemType>04`.
 */

/** The elements of the fields that can be left out. Others have elements among others of their name. */
const ELEMENTS: Readonly<Record<string, readonly string[]>> = {
  collateral: ["TextContent", "CitedContent", "Prize"],
  supporting_resources: ["SupportingResource"],
  related_products: ["RelatedProduct"],
  related_works: ["RelatedWork"],
  subjects: ["Subject"],
  measures: ["Measure"],
  product_form_features: ["ProductFormFeature"],
};

/** Marks what the view does not show. */
export function withholdFrom(record: Element, view: View): void {
  const { leave_out, currencies, price_types } = view;
  const hidden = new Set([
    ...leave_out.flatMap((name) => ELEMENTS[name] ?? []),
    ...elementsLeftOut(view),
  ]);
  const hidesCovers = leave_out.includes("cover_image_url");
  const hidesIdentifiers = leave_out.includes("product_identifiers");
  const hidesPrices = currencies !== null || price_types !== null;

  function isHidden(element: Element, parent: Element): boolean {
    const { name } = element;
    // In release 3.1, the parts of a conference are those of an event.
    if (hidden.has(name) || hidden.has(name.replace(/^Conference/, "Event"))) return true;
    switch (name) {
      case "TextSource":
        return hidden.has(corporateNameIn(element) ? "TextSourceCorporate" : "TextAuthor");
      case "Price":
      case "ComparisonProductPrice":
        return hidesPrices &&
          !isPriceSeen(view, childValue(element, "CurrencyCode"), childValue(element, "PriceType"));
      case "SupportingResource":
        return hidesCovers && childValue(element, "ResourceContentType") === "01" &&
          childValue(element, "ResourceMode") === "03";
      case "ProductIdentifier":
        return hidesIdentifiers && parent === record && isbnOf(element) === undefined;
      default:
        return false;
    }
  }

  function visit(parent: Element): void {
    for (const each of parent.children) {
      if (!isHidden(each, parent)) visit(each);
      else if (limits(each.name, parent.name)) {
        throw new TypeError(`A view cannot leave out ${each.name}`);
      } else each.isWithheld = true;
    }
  }
  visit(record);
}
