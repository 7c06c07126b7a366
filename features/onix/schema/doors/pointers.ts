import { elementOf, type Fields } from "../../../../schema/fields.ts";
import { objectsIn, remembered } from "../../../../schema/objects.ts";
import { ORGANIZATION } from "../../../../schema/organization.ts";
import { ARRAYS, FIELDS } from "../../../../schema/product.ts";
import { childValue, type Element } from "../xml/element.ts";
import { type Block, BLOCKS, containerOf } from "../mapping/mapped.ts";
import { MAPPED_FIELDS, MAPPING } from "../mapping/mapping.ts";
import { isAtSegment, type Segment, segmentsOf } from "../codecs/path.ts";
import { RecordReader } from "../codecs/record_reader.ts";

/*
 * Finds the JSON pointer of an element in a record. In: the path to the element, or to one that is
 * missing. Out: a JSON Pointer. `/Product/DescriptiveDetail/Extent[2]/ExtentValue` is
 * `/extents/1/extent_value`.
 */

/** An element of a path, or a segment for a missing one. */
export type ElementSegment = Segment & { element?: Element };

/** A field, and the segments to its path. */
type FieldAtPath = readonly [name: string, segments: readonly Segment[]];

/** The entries of an array in the record, and the reader that knows their elements. */
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

/** The paths of the mapped fields, by block. */
const MAPPED_PATHS = Map.groupBy(
  MAPPED_FIELDS.filter(([name]) => name !== "product_availability")
    .map(([name, { block, path }]) => {
      const field = name === "collections" ? undefined : FIELDS[name];
      const own = field && elementOf(name, field);
      return { block, path: [name, segmentsOf(own ?? path)] as FieldAtPath };
    }),
  ({ block }) => block,
);

/** The field of the availability in a product without supply details. */
const AVAILABILITY: FieldAtPath = [
  "product_availability",
  segmentsOf("ProductSupply/SupplyDetail/ProductAvailability"),
];

/** The paths of the fields of an object in its composite. */
const pathsOfFields = remembered((fields: Fields): FieldAtPath[] =>
  Object.entries(fields).flatMap(([name, field]): FieldAtPath[] => {
    const path = elementOf(name, field);
    return path === null ? [] : [[name, segmentsOf(path)]];
  })
);

/** The pointers into a product. Without the product, arrays have no positions. */
export class Pointers {
  readonly #product: Readonly<Record<string, unknown>>;
  readonly #read = new Map<string, ReadEntries>();

  constructor(product: Readonly<Record<string, unknown>> = {}) {
    this.#product = product;
  }

  /** Returns the pointer for a path in the record, or null if no field has its content. */
  pointerTo([root, ...segments]: readonly ElementSegment[]): string | null {
    if (root!.name === "Header") return pointerInHeader(segments.slice(1));
    const block = BLOCKS.find((name) => name === segments[0]!.name) ?? null;
    const inBlock = block === null || block === "ProductSupply" ? segments : segments.slice(1);
    const name = isbnFieldAt(inBlock) ?? this.#mappedFieldAt(block, inBlock);
    if (name === undefined) return null;
    return `/${MAPPING[name]!.field}${this.#entryAt(name, root!.element, inBlock)}`;
  }

  /** The mapped field of a block whose path is the nearest to these segments. */
  #mappedFieldAt(block: Block | null, segments: readonly ElementSegment[]): string | undefined {
    const isOwnAvailability = segments.at(-1)?.name === "ProductAvailability" &&
      objectsIn(this.#product.product_territories).length === 0;
    const paths = (MAPPED_PATHS.get(block) ?? []).map(({ path }) => path);
    return nearestPath(isOwnAvailability ? [AVAILABILITY] : paths, segments);
  }

  /**
   * Returns the pointer below a field: to an entry of its array and a field of that, if the product
   * has it.
   */
  #entryAt(
    name: string,
    record: Element | undefined,
    [first, ...inner]: readonly ElementSegment[],
  ): string {
    const { field } = MAPPING[name]!;
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

/** Returns the pointer of a header's field, which belongs to the organization. */
function pointerInHeader(segments: readonly ElementSegment[]): string | null {
  const name = nearestPath(pathsOfFields(ORGANIZATION), segments);
  return name === undefined ? null : `/organization/${name}`;
}

/** The field of an ISBN, which is an identifier of its type. */
function isbnFieldAt([first]: readonly ElementSegment[]): string | undefined {
  return first?.name === "ProductIdentifier"
    ? ISBN_FIELDS[codeIn(first, "ProductIDType") ?? ""]
    : undefined;
}

/** The pointer below an entry, whose arrays are tied to their elements. */
function pointerBelow(
  fields: Fields,
  segments: readonly ElementSegment[],
  entry: Record<string, unknown>,
  reader: RecordReader,
): string {
  const name = nearestPath(pathsOfFields(fields), segments);
  if (name === undefined) return "";
  const field = fields[name]!;
  const value = entry[name];
  const rest = segments.slice(1);
  if (field.kind === "group") {
    const group = (value ?? {}) as Record<string, unknown>;
    return `/${name}${pointerBelow(field.fields, rest, group, reader)}`;
  }
  if (field.kind !== "rows" && field.kind !== "values") return `/${name}`;
  const entries = objectsIn(value);
  const i = entries.findIndex((each) => reader.elementOf(each) === segments[0]!.element);
  return i < 0
    ? `/${name}`
    : `/${name}/${i}${pointerBelow(field.fields, rest, entries[i]!, reader)}`;
}

/** Finds the field whose path matches most segments, and most codes of these. */
function nearestPath(
  paths: readonly FieldAtPath[],
  segments: readonly ElementSegment[],
): string | undefined {
  let best: string | undefined;
  let most = { length: 0, codes: 0 };
  for (const [name, path] of paths) {
    const end = path.findIndex((segment, i) =>
      !segments[i] || !isSameSegment(segment, segments[i]!)
    );
    const matched = end < 0 ? path : path.slice(0, end);
    const { length } = matched;
    const codes = matched.flatMap((segment) => segment.codes).length;
    const isNearer = length > most.length || length === most.length && codes > most.codes;
    if (isNearer) [best, most] = [name, { length, codes }];
  }
  return best;
}

function isSameSegment(segment: Segment, wanted: ElementSegment): boolean {
  return wanted.element ? isAtSegment(segment, wanted.element) : segment.name === wanted.name &&
    segment.codes.every(([name, code]) => codeIn(wanted, name) === code);
}

/** Returns the code that a segment has, or would have. */
function codeIn({ codes, element }: ElementSegment, name: string): string | undefined {
  return element ? childValue(element, name) : codes.find(([child]) => child === name)?.[1];
}
