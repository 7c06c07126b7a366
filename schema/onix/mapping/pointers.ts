import { elementOf, type Fields } from "../../fields.ts";
import { objectsIn, remembered } from "../../objects.ts";
import { ORGANIZATION } from "../../organization.ts";
import { ARRAYS, FIELDS } from "../../product.ts";
import { childValue, type Element } from "../xml/element.ts";
import { IDENTIFIERS } from "./linked.ts";
import { BLOCKS, containerOf } from "./mapped.ts";
import { COLLATERAL_TYPES, MAPPED, MAPPING } from "./mapping.ts";
import { isAt, type Step, stepsOf } from "./path.ts";
import { RecordReader } from "./record_reader.ts";

/*
 * Where in the JSON of a product a place in its record is written. In: the elements on the way
 * to the place, and the steps to what is missing there. Out: a JSON Pointer.
 */

/** An element on the way to a place, or a step to one that is missing. */
export type Stop = Step & { element?: Element };

/** A field, and the steps to its place. */
type PlacedField = readonly [name: string, steps: readonly Step[]];

/** The entries of an array as they stand in the record, and the reader that knows their elements. */
interface ReadEntries {
  entries: Record<string, unknown>[];
  reader: RecordReader;
}

/** The fields that have the ISBNs, by their types (List 5). */
const ISBN_FIELDS: Readonly<Record<string, string>> = {
  "02": "isbn10",
  "03": "isbn13",
  "15": "isbn13",
};

/** The places of the mapped fields, by block. */
const PLACES = Map.groupBy(
  MAPPED.filter(([name]) => name !== "product_availability")
    .map(([name, { block, place }]) => {
      const field = name === "collections" ? undefined : FIELDS[name];
      const own = field && elementOf(name, field);
      return { block, place: [name, stepsOf(own ?? place)] as PlacedField };
    }),
  ({ block }) => block,
);

/** Where a product without supply details has its availability. */
const AVAILABILITY: PlacedField = [
  "product_availability",
  stepsOf("ProductSupply/SupplyDetail/ProductAvailability"),
];

/** The places of the fields of an object in its composite. */
const placesIn = remembered((fields: Fields): PlacedField[] =>
  Object.entries(fields).flatMap(([name, field]): PlacedField[] => {
    const place = elementOf(name, field);
    return place === null ? [] : [[name, stepsOf(place)]];
  })
);

/** The pointers into a product. Without the product, arrays have no positions. */
export class Pointers {
  readonly #product: Readonly<Record<string, unknown>>;
  readonly #read = new Map<string, ReadEntries>();

  constructor(product: Readonly<Record<string, unknown>> = {}) {
    this.#product = product;
  }

  /** The pointer for a place in the record, or null if no field holds what is there. */
  pointerTo([root, ...way]: readonly Stop[]): string | null {
    const [first, ...inner] = way;
    // What the header says of its sender is written in the organization.
    if (root!.name === "Header") {
      const name = nearest(placesIn(ORGANIZATION), inner);
      return name === undefined ? null : `/organization/${name}`;
    }
    const block = BLOCKS.find((name) => name === first!.name) ?? null;
    const within = block === null || block === "ProductSupply" ? way : inner;
    if (within[0]?.name === "ProductIdentifier") {
      const field = ISBN_FIELDS[codeIn(within[0], "ProductIDType") ?? ""];
      if (field) return `/${field}`;
    }
    const isOwnAvailability = within.at(-1)?.name === "ProductAvailability" &&
      objectsIn(this.#product.product_territories).length === 0;
    const places = (PLACES.get(block) ?? []).map(({ place }) => place);
    const name = nearest(
      isOwnAvailability ? [AVAILABILITY] : places,
      within,
    );
    if (name === undefined) return null;
    const field = fieldOf(name);
    const composite = within[0]!.element;
    const shown = objectsIn(this.#product[field]).filter((entry) =>
      field !== "collateral" || entry.collateral_type === name
    );
    if (!composite || shown.length === 0) return `/${field}`;
    const { entries, reader } = this.#read.getOrInsertComputed(name, () => {
      const record = root!.element!;
      const reader = new RecordReader(record, { isSilent: true });
      const container = containerOf(record, MAPPING[name]!.block)!;
      return {
        entries: objectsIn(MAPPING[name]!.read(container, reader)),
        reader,
      };
    });
    const i = entries.findIndex((each) => reader.elementOf(each) === composite);
    if (!shown[i]) return `/${field}`;
    const { fields } = ARRAYS.collateral.types![name] ??
      FIELDS[field] as { fields: Fields };
    const below = pointerBelow(fields, within.slice(1), entries[i]!, reader);
    const position = objectsIn(this.#product[field]).indexOf(shown[i]);
    return `/${field}/${position}${below}`;
  }
}

/** The pointer below an entry, whose arrays are tied to their elements. */
function pointerBelow(
  fields: Fields,
  way: readonly Stop[],
  entry: Record<string, unknown>,
  reader: RecordReader,
): string {
  const name = nearest(placesIn(fields), way);
  if (name === undefined) return "";
  const field = fields[name]!;
  const value = entry[name];
  const rest = way.slice(1);
  if (field.kind === "group") {
    const group = (value ?? {}) as Record<string, unknown>;
    return `/${name}${pointerBelow(field.fields, rest, group, reader)}`;
  }
  if (field.kind !== "rows" && field.kind !== "values") return `/${name}`;
  const entries = objectsIn(value);
  const i = entries.findIndex((each) => reader.elementOf(each) === way[0]!.element);
  return i < 0
    ? `/${name}`
    : `/${name}/${i}${pointerBelow(field.fields, rest, entries[i]!, reader)}`;
}

/** The field whose place goes the farthest along the way, with the most codes of it. */
function nearest(
  places: readonly PlacedField[],
  way: readonly Stop[],
): string | undefined {
  let best: string | undefined;
  let most = 0;
  for (const [name, steps] of places) {
    const end = steps.findIndex((step, i) => !way[i] || !fits(step, way[i]!));
    const matched = end < 0 ? steps : steps.slice(0, end);
    const codes = matched.flatMap((step) => step.codes).length;
    // A step counts more than all codes.
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
  return element ? childValue(element, name) : codes.find(([child]) => child === name)?.[1];
}

/** The field of the product that a mapped field is. */
function fieldOf(name: string): string {
  if (name === "collections") return "product_collections";
  // The party has them.
  if (name in IDENTIFIERS) return name.replace("identifiers", "id");
  if (COLLATERAL_TYPES.some((type) => type === name)) return "collateral";
  return name in FIELDS ? name : `${name}_id`;
}
