import { assert, assertEquals } from "@std/assert";
import { elementOf, type Fields, type Rows, type Values } from "../../schema/fields.ts";
import { objectsIn } from "../../schema/objects.ts";
import { BLOCKS } from "../../features/onix/schema/mapping/mapped.ts";
import { MAPPED_FIELDS } from "../../features/onix/schema/mapping/mapping.ts";
import { composite, dataElement } from "../../features/onix/schema/rules/facts.ts";
import type { Particle } from "../../features/onix/schema/rules/models.ts";
import { limits } from "../../features/onix/schema/rules/limits.ts";
import { type Release, RELEASES } from "../../features/onix/schema/rules/releases.ts";
import { copyOf, type Element, element } from "../../features/onix/schema/xml/element.ts";
import { ARRAYS, FIELDS } from "../../schema/product.ts";
import type { Any } from "../support/data/varied.ts";
import { imported, writeRecord } from "./support.ts";
import { whole } from "./whole.ts";

/*
 * What loses a part that limits it is not sent: every such part of the standard, in records
 * and in JSON, in both releases. The parts follow from the content models and from the
 * description of products.
 */

/** What is no code of any list and no number. */
const UNKNOWN = "~";

/** Values with which an element limits, where that of a whole record does not. */
const LIMITING: Readonly<Record<string, string>> = {
  ContentDateRole: "14",
  Date: "20270131",
  EndDate: "20270131",
  PriceDateRole: "14",
  RegionsExcluded: "GB-NIR",
  RegionsIncluded: "WORLD",
  StartDate: "20270101",
};

const DATES = ["Date", "StartDate", "EndDate"];

const HEADER = element("Header", []);

/** The names on the way to an element, from the record on. */
type Way = readonly string[];

/** Whether the element at the end of a way has values that it cannot say. */
function canBeWrong(way: Way): boolean {
  const name = way.at(-1)!;
  return DATES.includes(name) ||
    !["text", "flow", undefined].includes(dataElement(name)?.kind);
}

/** The paths of what says more without the last element of a way: the first composite around it that limits nothing. */
function pathsAround(way: Way): string[] {
  let at = way.length - 1;
  while (at > 0 && limits(way[at]!, way[at - 1])) at--;
  const [, block, name] = way as [string, string, string];
  if (at > 1) return [way.slice(0, at + 1).join("/")];
  // In a block, each entry is one of its own.
  if (name === "Market") return [`Product/${block}`];
  return block === "PublishingDetail"
    ? ["SalesRights", "ROWSalesRightsType"].map((right) => `Product/${block}/${right}`)
    : [`Product/${block}/${name}`];
}

/** The paths of an element and of all in it. */
function pathsIn({ name, children }: Element, above = ""): string[] {
  const path = above + name;
  return [path, ...children.flatMap((each) => pathsIn(each, `${path}/`))];
}

function isSent(way: Way, record: Element): boolean {
  const paths = new Set(pathsIn(record));
  return pathsAround(way).some((path) => paths.has(path));
}

/** Every element that limits what it stands in, with the way to it. */
function* limitingIn(of: Element, above: Way = []): Generator<[Way, Element]> {
  const way = [...above, of.name];
  for (const each of of.children) {
    if (limits(each.name, of.name)) yield [[...way, each.name], each];
    yield* limitingIn(each, way);
  }
}

/** Records that together have every element of the release, each with one block. */
function wholeRecords(release: Release): Element[] {
  return [0, 1, 2, 3, 4, 5, 6].flatMap((choice) => {
    const { children } = limiting(whole("Product", "", release, choice));
    const head = children.filter(({ name }) => !isBlock(name));
    const title = children.find(({ name }) => name === "DescriptiveDetail")!
      .children.filter(({ name }) => name === "TitleDetail");
    return children.filter(({ name }) => isBlock(name)).map((block) =>
      element("Product", [
        ...head,
        ...block.name === "DescriptiveDetail" ? [] : [element("DescriptiveDetail", title)],
        block,
      ])
    );
  });
}

function isBlock(name: string): boolean {
  return (BLOCKS as readonly string[]).includes(name);
}

/** The same with values that limit. */
function limiting({ name, children, text, ...rest }: Element): Element {
  return {
    ...rest,
    name,
    children: children.map(limiting),
    text: LIMITING[name] ?? text,
  };
}

function isInModel(particle: Particle, name: string): boolean {
  return particle.kind === "element" ? particle.name === name : particle.names.has(name);
}

/** Whether the release has all elements of the way in their places. */
function hasAll(release: Release, way: Way): boolean {
  return way.every((name, i) => {
    const parent = i === 0 ? undefined : composite(release, way[i - 1]!, way[i - 2]);
    return i === 0 || parent !== undefined && isInModel(parent.model, name);
  });
}

/** What the other release says in another form or place: all other parts that it lacks take their entries with them. */
const CONVERTED = ["Date/DateFormat", "PublishingDetail/SalesRestriction"];

/** Whether the release cannot say the element at the end of a way, although it has what it stands in. */
function isLacking(release: Release, way: Way): boolean {
  const isConverted = CONVERTED.some((one) => way.join("/").includes(one));
  return !isConverted && hasAll(release, way.slice(0, -1)) &&
    !hasAll(release, way);
}

/** The record without these parts. */
function withoutParts(of: Element, parts: readonly Element[]): Element {
  const children = of.children.filter((each) => !parts.includes(each))
    .map((each) => withoutParts(each, parts));
  return { ...of, children };
}

function sentOf(record: Element, release: Release): Element {
  const { book, received } = imported(copyOf(record), HEADER);
  return writeRecord(book, received, release).record;
}

for (const release of RELEASES) {
  const other = RELEASES.find((each) => each !== release)!;

  Deno.test(`What ${other} cannot say of a record of ${release} is not sent in it`, () => {
    const lacking = new Map<string, string>();
    for (const record of wholeRecords(release)) {
      const all = [...limitingIn(record)]
        .filter(([way]) => isLacking(other, way));
      for (const [way, part] of all) {
        const others = all.map(([, each]) => each)
          .filter((each) => each !== part);
        const plain = withoutParts(record, others);
        const places = RELEASES.filter((each) => isSent(way, sentOf(plain, each)));
        lacking.set(way.join("/"), places.join());
      }
    }
    assert(lacking.size > 0);
    assertEquals([...lacking].filter(([, sent]) => sent !== release), []);
  });

  Deno.test(`What is wrong in a part that limits is not sent: of a record of ${release}`, () => {
    const results = new Map<string, [string, string]>();
    for (const whole of wholeRecords(release)) {
      const lacking = [...limitingIn(whole)]
        .filter(([way]) => isLacking(other, way)).map(([, part]) => part);
      const record = withoutParts(whole, lacking);
      for (const [way, part] of limitingIn(record)) {
        const path = way.join("/");
        if (results.has(path) || !canBeWrong(way)) continue;
        const before = RELEASES.filter((each) => isSent(way, sentOf(record, each)));
        const { text } = part;
        part.text = UNKNOWN;
        const after = RELEASES.filter((each) => isSent(way, sentOf(record, each)));
        part.text = text;
        const [entry] = pathsAround(way) as [string];
        const having = RELEASES.filter((each) => hasAll(each, entry.split("/")));
        results.set(path, [`${before} then ${after}`, `${having} then `]);
      }
    }
    assert(results.size > 100, `${results.size}`);
    assertEquals([...results].filter(([, is]) => is[0] !== is[1]), []);
  });
}

/** A field of JSON that limits what its element stands in. */
interface LimitingField {
  way: Way;
  /** The object that has the field. */
  object: Any;
  name: string;
}

/** The fields of an object in a composite that limit it, or what is in it. */
function* limitingFields(
  fields: Fields,
  object: Any,
  above: Way,
): Generator<LimitingField> {
  for (const [name, field] of Object.entries(fields)) {
    const place = elementOf(name, field);
    const value = object[name];
    if (place === null || isNothing(value)) continue;
    const way = [...above, ...place.replaceAll(/\[.*?\]/g, "").split("/")];
    const isLimiting = limits(way[above.length]!, above.at(-1));
    if (field.kind === "group") yield* limitingFields(field.fields, value, way);
    else if (field.kind === "rows" || field.kind === "values") {
      for (const entry of objectsIn(value)) {
        yield* limitingFields(fieldsOf(field, entry), entry, way);
      }
    } else if (isLimiting && canBeWrong(way) && !DATES.includes(way.at(-1)!)) {
      yield { way, object, name };
    }
  }
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined ||
    Array.isArray(value) && value.length === 0;
}

/** The fields of an entry, which may depend on its type. */
function fieldsOf(array: Rows | Values, entry: Any): Fields {
  const type = "types" in array && array.types?.[entry.collateral_type];
  return type ? type.fields : array.fields;
}

/** All of them in a product, with the ways to their elements. */
function limitingFieldsIn(product: Any): LimitingField[] {
  return MAPPED_FIELDS.flatMap(([name, { block, path }]) => {
    const above = block === null || block === "ProductSupply" ? ["Product"] : ["Product", block];
    const type = ARRAYS.collateral.types![name];
    if (type) {
      return objectsIn(product.collateral)
        .filter((entry) => entry.collateral_type === name)
        .flatMap((entry) => [
          ...limitingFields(type.fields, entry, [...above, path]),
        ]);
    }
    const field = FIELDS[name];
    return field ? [...limitingFields({ [name]: field }, product, above)] : [];
  });
}

Deno.test("What is wrong in a field that limits is not sent", () => {
  const results = new Map<string, [string, string]>();
  for (const record of wholeRecords("3.1")) {
    const lacking = [...limitingIn(record)]
      .filter(([way]) => isLacking("3.0", way)).map(([, part]) => part);
    const { book } = imported(withoutParts(record, lacking), HEADER);
    const sentOf = (release: Release) => writeRecord(book, null, release).record;
    for (const { way, object, name } of limitingFieldsIn(book.product)) {
      const value = object[name];
      const before = RELEASES.filter((each) => isSent(way, sentOf(each)));
      object[name] = Array.isArray(value)
        ? [...value, UNKNOWN]
        : typeof value === "number"
        ? 0
        : UNKNOWN;
      const after = RELEASES.filter((each) => isSent(way, sentOf(each)));
      object[name] = value;
      results.set(way.join("/"), [`${before} then ${after}`, "3.0,3.1 then "]);
    }
  }
  assertEquals([...results].filter(([, is]) => is[0] !== is[1]), []);
});
