import { elementOf, type Fields, snake } from "../../fields.ts";
import { objectsIn } from "../../objects.ts";
import { ARRAYS, FIELDS } from "../../product.ts";
import { childValue, type Element } from "../xml/element.ts";
import {
  BLOCKS,
  COLLATERAL_TYPES,
  containerOf,
  IDENTIFIERS,
  MAPPED,
  MAPPING,
} from "./mapping.ts";
import { isAt, type Step, stepsOf } from "./path.ts";
import { RecordReader } from "./record_reader.ts";

/*
 * Where in the JSON of a product a place in its record is written. In: the elements on the way
 * to the place, and the steps to what is missing there. Out: a JSON Pointer.
 */

/** An element on the way to a place, or a step to one that is missing. */
export type Stop = Step & { element?: Element };

/** The fields that have the ISBNs, by their types (List 5). */
const ISBN_FIELDS: Readonly<Record<string, string>> = {
  "02": "isbn10",
  "03": "isbn13",
  "15": "isbn13",
};

/** Where a product without supply details has its availability. */
const AVAILABILITY = "ProductSupply/SupplyDetail/ProductAvailability";

/**
 * The pointer into the product for a place in its record, or null if no field holds what
 * is there. Without the product, arrays have no positions.
 */
export function pointerTo(
  way: readonly Stop[],
  product?: Readonly<Record<string, unknown>>,
): string | null {
  const [root, first, ...inner] = way;
  if (root!.name === "Header") return pointerToSender(inner);
  const block = BLOCKS.find((name) => name === first!.name) ?? null;
  const within = block === null || block === "ProductSupply"
    ? [first!, ...inner]
    : inner;
  if (within[0]?.name === "ProductIdentifier") {
    const field = ISBN_FIELDS[codeIn(within[0], "ProductIDType") ?? ""];
    if (field) return `/${field}`;
  }
  const isAvailability = within.at(-1)?.name === "ProductAvailability" &&
    objectsIn(product?.product_territories).length === 0;
  const places = MAPPED.flatMap(([name, field]): [string, string][] => {
    if (field.block !== block) return [];
    if (name !== "product_availability") return [[name, placeOf(name)]];
    return isAvailability ? [[name, AVAILABILITY]] : [];
  });
  const name = nearest(places, within);
  if (name === undefined) return null;
  const field = fieldOf(name);
  const shown = objectsIn(product?.[field]);
  const [composite] = within;
  const container = root!.element && containerOf(root!.element, block);
  if (!shown.length || !container || !composite?.element) return `/${field}`;
  const reader = new RecordReader(root!.element!, { isSilent: true });
  const read = objectsIn(MAPPING[name]!.read(container, reader));
  const i = read.findIndex((each) =>
    reader.elementOf(each) === composite.element
  );
  const own = field === "collateral"
    ? shown.filter(({ collateral_type }) => collateral_type === name)
    : shown;
  if (!own[i]) return `/${field}`;
  const { fields } = ARRAYS.collateral.types![name] ??
    FIELDS[field] as { fields: Fields };
  const below = pointerBelow(fields, within.slice(1), read[i]!, reader);
  return `/${field}/${shown.indexOf(own[i])}${below}`;
}

/** The pointer below an entry of the record, whose arrays and groups are tied to their elements. */
function pointerBelow(
  fields: Fields,
  way: readonly Stop[],
  entry: Record<string, unknown>,
  reader: RecordReader,
): string {
  const places = Object.entries(fields).flatMap(([name, field]) => {
    const place = elementOf(name, field);
    return place === null ? [] : [[name, place] as [string, string]];
  });
  const name = nearest(places, way);
  if (name === undefined) return "";
  const field = fields[name]!;
  const value = entry[name];
  const rest = way.slice(1);
  if (field.kind === "group") {
    const group = value as Record<string, unknown> ?? {};
    return `/${name}${pointerBelow(field.fields, rest, group, reader)}`;
  }
  if (field.kind !== "rows" && field.kind !== "values") return `/${name}`;
  const entries = objectsIn(value);
  const i = entries.findIndex((each) =>
    reader.elementOf(each) === way[0]!.element
  );
  return i < 0
    ? `/${name}`
    : `/${name}/${i}${pointerBelow(field.fields, rest, entries[i]!, reader)}`;
}

/** The name whose place goes the farthest along the way, with the most codes of it. */
function nearest(
  places: readonly [name: string, place: string][],
  way: readonly Stop[],
): string | undefined {
  let best: string | undefined;
  let most = 0;
  for (const [name, place] of places) {
    const steps = stepsOf(place);
    const end = steps.findIndex((step, i) => !way[i] || !fits(step, way[i]!));
    const matched = end < 0 ? steps : steps.slice(0, end);
    const codes = matched.flatMap((step) => step.codes).length;
    const found = 10 * matched.length + codes;
    if (matched.length > 0 && found > most) [best, most] = [name, found];
  }
  return best;
}

function fits(step: Step, stop: Stop): boolean {
  return stop.element ? isAt(step, stop.element) : step.name === stop.name &&
    step.codes.every(([name, code]) => codeIn(stop, name) === code);
}

/** The code that a stop has, or would have. */
function codeIn({ codes, element }: Stop, name: string): string | undefined {
  return element
    ? childValue(element, name)
    : codes.find(([child]) => child === name)?.[1];
}

/** The place of a mapped field in its block. */
function placeOf(name: string): string {
  const field = FIELDS[name];
  const place = field && name !== "collections"
    ? elementOf(name, field)
    : undefined;
  return place ?? MAPPING[name]!.place;
}

/** The field of the product that a mapped field is. */
function fieldOf(name: string): string {
  if (name === "collections") return "product_collections";
  // The party has them.
  if (name in IDENTIFIERS) return name.replace("identifiers", "id");
  if (COLLATERAL_TYPES.some((type) => type === name)) return "collateral";
  return name in FIELDS ? name : `${name}_id`;
}

/** What the header says of its sender is written in the organization. */
function pointerToSender([sender]: readonly Stop[]): string | null {
  return sender ? `/organization/${snake(sender.name)}` : null;
}
