import { elementOf, type Fields } from "../../fields.ts";
import { objectsIn, remembered } from "../../objects.ts";
import { ORGANIZATION } from "../../organization.ts";
import { ARRAYS, FIELDS } from "../../product.ts";
import { childValue, type Element } from "../xml/element.ts";
import { COLLATERAL_TYPES } from "./collateral.ts";
import { IDENTIFIERS } from "./linked.ts";
import { type Block, BLOCKS, containerOf } from "./mapped.ts";
import { MAPPED_FIELDS, MAPPING } from "./mapping.ts";
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
const MAPPED_PLACES = Map.groupBy(
  MAPPED_FIELDS.filter(([name]) => name !== "product_availability")
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
    if (root!.name === "Header") return pointerInHeader(way.slice(1));
    const block = BLOCKS.find((name) => name === way[0]!.name) ?? null;
    const inBlock = block === null || block === "ProductSupply" ? way : way.slice(1);
    const name = isbnFieldAt(inBlock) ?? this.#mappedFieldAt(block, inBlock);
    if (name === undefined) return null;
    return `/${fieldOf(name)}${this.#entryAt(name, root!.element, inBlock)}`;
  }

  /** The field of the mapping whose place is on this way in a block. */
  #mappedFieldAt(block: Block | null, way: readonly Stop[]): string | undefined {
    const isOwnAvailability = way.at(-1)?.name === "ProductAvailability" &&
      objectsIn(this.#product.product_territories).length === 0;
    const places = (MAPPED_PLACES.get(block) ?? []).map(({ place }) => place);
    return nearestPlace(isOwnAvailability ? [AVAILABILITY] : places, way);
  }

  /** The pointer below a field: to an entry of its array and what is in that, if the product has it. */
  #entryAt(name: string, record: Element | undefined, [first, ...inner]: readonly Stop[]): string {
    const field = fieldOf(name);
    const all = objectsIn(this.#product[field]);
    // Types of collateral share an array.
    const shown = all.filter((entry) => field !== "collateral" || entry.collateral_type === name);
    if (!first?.element || shown.length === 0) return "";
    const { entries, reader } = this.#entriesOf(name, record!);
    const i = entries.findIndex((each) => reader.elementOf(each) === first.element);
    if (!shown[i]) return "";
    const { fields } = ARRAYS.collateral.types![name] ?? FIELDS[field] as { fields: Fields };
    return `/${all.indexOf(shown[i])}${pointerBelow(fields, inner, entries[i]!, reader)}`;
  }

  #entriesOf(name: string, record: Element): ReadEntries {
    return this.#read.getOrInsertComputed(name, () => {
      const reader = new RecordReader(record, { isSilent: true });
      const { block, read } = MAPPING[name]!;
      return { entries: objectsIn(read(containerOf(record, block)!, reader)), reader };
    });
  }
}

/** What the header says of its sender is written in the organization. */
function pointerInHeader(way: readonly Stop[]): string | null {
  const name = nearestPlace(placesIn(ORGANIZATION), way);
  return name === undefined ? null : `/organization/${name}`;
}

/** The field of an ISBN, which is an identifier of its type. */
function isbnFieldAt([first]: readonly Stop[]): string | undefined {
  return first?.name === "ProductIdentifier"
    ? ISBN_FIELDS[codeIn(first, "ProductIDType") ?? ""]
    : undefined;
}

/** The pointer below an entry, whose arrays are tied to their elements. */
function pointerBelow(
  fields: Fields,
  way: readonly Stop[],
  entry: Record<string, unknown>,
  reader: RecordReader,
): string {
  const name = nearestPlace(placesIn(fields), way);
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
function nearestPlace(
  places: readonly PlacedField[],
  way: readonly Stop[],
): string | undefined {
  let best: string | undefined;
  let most = { steps: 0, codes: 0 };
  for (const [name, all] of places) {
    const end = all.findIndex((step, i) => !way[i] || !fits(step, way[i]!));
    const matched = end < 0 ? all : all.slice(0, end);
    const steps = matched.length;
    const codes = matched.flatMap((step) => step.codes).length;
    const isNearer = steps > most.steps || steps === most.steps && codes > most.codes;
    if (isNearer) [best, most] = [name, { steps, codes }];
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
