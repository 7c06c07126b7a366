import * as v from "valibot";
import { printable, withHint } from "../../../schema/errors.ts";
import { FIELDS } from "../../../schema/product.ts";
import { didYouMean, speller } from "../../../schema/spelling.ts";
import { heading } from "../../../schema/values.ts";
import { LEFT_OUT } from "../../../schema/view.ts";
import { childNames, isOptional, knownTag, parentsOf } from "../../onix/schema/rules/facts.ts";
import { isRight, limits, PERIODS } from "../../onix/schema/rules/limits.ts";

/*
 * Decides which names a recipient may leave out: fields of products, and elements of ONIX. In: a
 * name. Out: its fault, if it has one.
 *
 * `season` and `Stock` may be left out. `title` identifies a product. Without its `Territory`, a
 * price would apply worldwide, so `Territory` may not be left out.
 */

/** The names of fields that may be left out. */
export const LEFT_OUT_FIELDS = Object.keys(LEFT_OUT);

/** The fields that limit the use of a product: where, when and for whom. */
const LIMITING_FIELDS = [
  "product_sales_rights",
  "product_territories",
  "audiences",
  "audience_ranges",
  "publishing_dates",
  "publication_date",
];

/** The limiting elements, besides those of `limits`. */
const LIMITING_ELEMENTS = [
  ...Object.keys(PERIODS),
  ...["Audience", "AudienceCode", "PublishingDate", "MarketDate", "SupplyDate"],
];

/** The elements that identify or name a product, and those who made it. */
const IDENTIFYING = [
  ...["ProductIdentifier", "TitleDetail", "TitleElement", "Collection", "Contributor"],
  ...["Publisher", "Imprint"],
  ...["PersonName", "KeyNames", "CorporateName", "PublisherName"],
];

/** The other parts that a record needs. */
const NEEDED = [
  ...["RecordReference", "NotificationType"],
  ...["DescriptiveDetail", "CollateralDetail", "PublishingDetail", "RelatedMaterial"],
];

const nearField = speller(LEFT_OUT_FIELDS);

/** Returns the fault of a name in `leave_out`, as `code: Sentence`. Undefined if it may be left out. */
export function faultOf(name: string): string | undefined {
  if (LEFT_OUT_FIELDS.includes(name)) return;
  if (LIMITING_FIELDS.includes(name)) return limiting(name);
  if (Object.hasOwn(FIELDS, name)) {
    return `invalid_value: ${name} cannot be left out${didYouMean(nearField(name))}`;
  }
  const known = knownTag(name);
  if (!known) {
    return `invalid_value: Neither a field that can be left out nor an ONIX element is called ${
      printable(name)
    }${didYouMean(nearField(name))}`;
  }
  if (known.name !== name) {
    return withHint("invalid_value: Expected the reference name of an element", `${known.name}`);
  }
  return faultOfElement(name);
}

function faultOfElement(name: string): string | undefined {
  const parents = [...parentsOf(name) ?? []];
  const isLimiting = limits(name) || LIMITING_ELEMENTS.includes(name) || holdsLimits(name) ||
    parents.some((parent) => LIMITING_ELEMENTS.includes(parent) || limits(name, parent));
  if (isLimiting) return limiting(name);
  const isIdentifying = IDENTIFYING.includes(name) ||
    parents.every((parent) => IDENTIFYING.includes(parent));
  const mayGo = parents.every((parent) => isOptional(name, parent));
  if (isIdentifying || NEEDED.includes(name) || !mayGo) {
    return `invalid_value: ${name} cannot be left out: a record needs it`;
  }
}

/**
 * Whether a composite has what limits the rest of the product: rights, which are sent together or
 * not at all, or the days from which a market is supplied.
 */
function holdsLimits(name: string): boolean {
  return childNames(name).some((child) => isRight({ name: child }) || child === "MarketDate");
}

function limiting(name: string): string {
  return `limits: ${name} cannot be left out: without it, more would be said of a product than is true`;
}

/** A name in `leave_out`. */
export const NameToLeaveOut = v.pipe(
  heading(100),
  v.check((name) => faultOf(name) === undefined, ({ input }) => faultOf(input)!),
);
