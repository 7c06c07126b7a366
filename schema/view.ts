import * as v from "valibot";
import type { Entry } from "./bodies.ts";
import { type ErrorDetail, invalid } from "./errors.ts";
import { elementOf, type Field, type Fields, type Rows } from "./fields.ts";
import { objectsIn } from "./objects.ts";
import { FIELDS, isFrontCover } from "./product.ts";
import { described, Uuid } from "./values.ts";

/*
 * A view: the products that a recipient's keys see, and which parts of them. Reads get the view
 * with the caller. They append its conditions (`db/products/lists/view.ts`), and show `projected`
 * products.
 *
 * With `leave_out: ["season"]` and `currencies: ["EUR"]`, a product is shown with `"season_id":
 * null`, without `season_name`, and with its prices in EUR.
 */

/** The values of filters of lists, by their names. */
export interface Criteria {
  /** Without the products that are announced to them later: the trade, or the public. */
  announced?: "trade" | "public" | undefined;
  [filter: string]: string[] | string | undefined;
}

/** The view of a recipient. */
export interface View {
  /** The id of the recipient. */
  id: string;
  selection: Criteria;
  /** Criteria of products that are hidden although they are selected. */
  except: Criteria | null;
  /** Names of fields (`LEFT_OUT`) and of ONIX elements. */
  leave_out: string[];
  /** The currencies of visible prices. Null: all. */
  currencies: string[] | null;
  /** By ONIX List 58. */
  price_types: string[] | null;
}

/** The criteria of a view that has every product. */
export const EVERYTHING = { selection: {}, except: null };

/** Whether the view is open: it has no criteria, and so every product. */
export function isOpen({ selection, except }: Pick<View, "selection" | "except">): boolean {
  return Object.keys(selection).length === 0 && except === null;
}

/** Whether the view hides parts of products. */
export function isProjecting({ leave_out, currencies, price_types }: View): boolean {
  return leave_out.length > 0 || currencies !== null || price_types !== null;
}

/** The names that can be left out, with the fields of a product that each hides. */
export const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  season: ["season_id"],
  division: ["division_id"],
  license: ["license_id"],
  lifecycle_status: ["lifecycle_status_id"],
  cover_image_url: ["cover_image_url"],
  custom_fields: ["custom_fields"],
  product_prices: ["product_prices"],
  packing_configurations: ["packing_configurations"],
  collateral: ["collateral"],
  supporting_resources: ["supporting_resources"],
  product_identifiers: ["product_identifiers"],
  related_products: ["related_products"],
  related_works: ["related_works"],
  subjects: ["subjects"],
  measures: ["measures"],
  product_form_features: ["product_form_features"],
};

/** The parameter of a read that shows the view of a recipient. */
export const Recipient = described(
  "The id of a recipient. The response is the one that a key of the recipient gets. A key of a recipient can send only the id of its own.",
  v.optional(Uuid),
);

/** The parameters of a read without others. */
export const ViewParameters = v.object({ recipient: Recipient });

/**
 * Elements of ONIX that have the same values as others: in an earlier revision, or under another
 * name. Who leaves out one leaves out those, too.
 */
const SAME_VALUES: Readonly<Record<string, readonly string[]>> = {
  Event: ["Conference"],
  PublisherName: ["PublisherNameInverted"],
  TextSource: ["TextAuthor", "TextSourceCorporate", "TextSourceDescription"],
};

/** Returns the names of the elements of ONIX that a view leaves out. */
export function elementsLeftOut({ leave_out }: View): string[] {
  return leave_out.filter((name) => !Object.hasOwn(LEFT_OUT, name))
    .flatMap((name) => [name, ...SAME_VALUES[name] ?? []]);
}

/** The hidden fields of an object: their replacement, or the hidden part of their value. */
interface Hidden {
  [field: string]: "absent" | "null" | "empty" | Hidden;
}

const HIDDEN = new WeakMap<View, Hidden>();

/** Returns what a view hides of products. Computed once per view. */
function hiddenBy(view: View): Hidden {
  return HIDDEN.getOrInsertComputed(view, ({ leave_out }) => {
    const fields = new Set(leave_out.flatMap((name) => LEFT_OUT[name] ?? []));
    const elements = new Set(elementsLeftOut(view));
    // The prices of a product are sent in a supply.
    if (elements.has("ProductSupply")) fields.add("product_prices");
    return hiddenIn(
      FIELDS,
      (name, field) => fields.has(name) || elements.size > 0 && isInElement(name, field, elements),
    );
  });
}

/** Whether a field stands in one of these elements of ONIX, by the path of its description. */
function isInElement(name: string, field: Field, elements: ReadonlySet<string>): boolean {
  const path = elementOf(name, field);
  return path !== null &&
    path.replace(/\[[^\][]*\]/g, "").split("/").some((segment) => elements.has(segment));
}

function hiddenIn(
  fields: Fields,
  isHidden: (name: string, field: Field) => boolean,
): Hidden {
  const hidden: Hidden = {};
  for (const [name, field] of Object.entries(fields)) {
    const isOwn = isHidden(name, field);
    // Fields of a referenced record are hidden together with the reference.
    const isOfHidden = field.kind === "shown" &&
      isHidden(field.reference, fields[field.reference]!);
    if (isOwn || isOfHidden) {
      const isArray = field.kind === "rows" || field.kind === "values" || field.kind === "list";
      hidden[name] = isArray
        ? "empty"
        : field.kind === "shown" && !field.isAlwaysThere
        ? "absent"
        : "null";
      if (field.kind === "column" && field.labels) hidden[`${name}_label`] = "null";
      continue;
    }
    const inner = "fields" in field ? hiddenIn(field.fields, isHidden) : {};
    const types = "types" in field ? Object.values(field.types ?? {}) : [];
    Object.assign(inner, ...types.map((type) => hiddenIn(type.fields, isHidden)));
    if (Object.keys(inner).length > 0) hidden[name] = inner;
  }
  return hidden;
}

function without(given: Entry, hidden: Hidden): Entry {
  const shown: Entry = { ...given };
  for (const [name, how] of Object.entries(hidden)) {
    if (!(name in shown)) continue;
    const value = shown[name];
    if (how === "absent") delete shown[name];
    else if (how === "null") shown[name] = null;
    else if (how === "empty") shown[name] = [];
    else if (Array.isArray(value)) {
      shown[name] = value.map((entry) => without(entry as Entry, how));
    } else if (value !== null) shown[name] = without(value as Entry, how);
  }
  return shown;
}

/** Whether a view leaves out the entries of a type, such as those of collateral that are texts. */
export function isTypeLeftOut({ leave_out }: View, array: string, type: unknown): boolean {
  const { types } = FIELDS[array] as Partial<Rows>;
  const element = types?.[type as string]?.element;
  return element !== undefined && leave_out.includes(element);
}

/** Returns a product, or the part of it in lists, as the view shows it. */
export function projected(product: Entry, view: View): Entry {
  const shown = without(product, hiddenBy(view));
  if (shown.collateral) {
    shown.collateral = objectsIn(shown.collateral)
      .filter(({ collateral_type }) => !isTypeLeftOut(view, "collateral", collateral_type));
  }
  if (view.leave_out.includes("cover_image_url") && shown.supporting_resources) {
    shown.supporting_resources = objectsIn(shown.supporting_resources)
      .filter((resource) => !isFrontCover(resource));
  }
  if (shown.subjects) {
    // As in ONIX, a subject has a code or a heading.
    shown.subjects = objectsIn(shown.subjects)
      .filter((one) => (one.subject_code ?? one.subject_heading_text ?? null) !== null);
  }
  if (view.currencies === null && view.price_types === null) return shown;
  if (shown.product_prices) {
    shown.product_prices = objectsIn(shown.product_prices).flatMap((price) =>
      ownPrice(price, view)
    );
  }
  if (shown.product_territories) {
    shown.product_territories = objectsIn(shown.product_territories).map((territory) => {
      if (!territory.supply_details) return territory;
      const supplies = objectsIn(territory.supply_details);
      return { ...territory, supply_details: supplies.map((one) => withSeenPrices(one, view)) };
    });
  }
  return shown;
}

/** Returns a supply with the prices that the view shows. */
function withSeenPrices(supply: Entry, view: View): Entry {
  const prices = objectsIn(supply.prices).filter(({ currency_code, price_type }) =>
    isPriceSeen(view, currency_code, price_type)
  );
  return { ...supply, prices };
}

/** Whether a view shows prices in this currency, of this type. */
export function isPriceSeen(
  { currencies, price_types }: Pick<View, "currencies" | "price_types">,
  currency: unknown,
  type: unknown,
): boolean {
  return (currencies === null || currencies.includes(currency as string)) &&
    (price_types === null || price_types.includes(type as string));
}

/** The types (List 58) of the amounts of `product_prices` in ONIX. */
const TYPES_OF_AMOUNTS: Readonly<Record<string, string>> = {
  retail_price: "01",
  list_price: "01",
  retail_price_inc_tax: "02",
};

/** Whether a view shows an amount of own prices in this currency. Without a name: any amount. */
export function isOwnAmountSeen(view: View, currency: unknown, name = ""): boolean {
  const { [name]: type } = TYPES_OF_AMOUNTS;
  return (type ? [type] : Object.values(TYPES_OF_AMOUNTS))
    .some((one) => isPriceSeen(view, currency, one));
}

/** Returns an own price with the amounts that the view shows, or none without an amount. */
function ownPrice(price: Entry, view: View): Entry[] {
  const hidden = Object.keys(TYPES_OF_AMOUNTS).filter((name) =>
    !isOwnAmountSeen(view, price.currency_code, name)
  );
  if (hidden.length === 0) return [price];
  const shown: Entry = { ...price };
  for (const name of hidden) shown[name] = null;
  const isAnyLeft = Object.keys(TYPES_OF_AMOUNTS).some((name) => (shown[name] ?? null) !== null);
  return isAnyLeft ? [shown] : [];
}

/** The fields by which filters select, if they have another name. */
const FILTERED: Readonly<Record<string, string>> = {
  id_value: "product_identifiers.id_value",
  language_code: "languages.language_code",
  subject_code: "subjects.subject_code",
  accessibility_code: "product_form_features.product_form_feature_value",
  collection_id: "product_collections.collection_id",
  contributor_id: "contributors.contributor_id",
  publication_date_from: "publication_date",
  publication_date_to: "publication_date",
  shared_isbn: "isbn13",
  supply_details: "product_territories.supply_details",
};

/** Whether a view leaves out a place, such as `season_id` or `subjects.subject_code`. */
export function isLeftOut(view: View, place: string): boolean {
  let hidden: Hidden[string] | undefined = hiddenBy(view);
  for (const name of place.split(".")) {
    if (typeof hidden !== "object") break;
    hidden = hidden[name];
  }
  return typeof hidden === "string";
}

/**
 * Refuses a query whose filters, order or embedded arrays the view leaves out, because the response
 * would reveal hidden values. Throws `VALIDATION_ERROR`.
 */
export function assertNotLeftOut(query: object, view: View): void {
  if (view.leave_out.length === 0) return;
  const details = Object.entries(query).flatMap(([parameter, value]): ErrorDetail[] => {
    const places = value === undefined
      ? []
      : parameter === "include"
      ? [...value as Set<string>]
      : parameter === "sort"
      ? [(value as string).replace(/^-/, "")]
      : [parameter];
    return places.filter((place) => isLeftOut(view, FILTERED[place] ?? place))
      .map((place) => leftOutDetail(parameter, place));
  });
  if (details.length > 0) throw invalid("The query", details);
}

/** The detail of a parameter about a hidden field. */
export function leftOutDetail(parameter: string, place: string): ErrorDetail {
  return { parameter, code: "left_out", message: `The recipient does not get ${place}` };
}
