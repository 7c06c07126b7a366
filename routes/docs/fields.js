import { make } from "./make.js";

/*
 * The fields of a product as a table, made from the OpenAPI document: what a body may
 * have and what a response shows. The fields of nested arrays are folded.
 */

/** The sections of the table: their address, and the schemas of what is written and shown. */
const PARTS = [
  { path: [], written: "CreateProduct", shown: "Product" },
  {
    path: ["product_territories"],
    written: "ReplaceTerritories",
    shown: "TerritoriesResponse",
  },
  {
    path: ["product_sales_rights"],
    written: "ReplaceSalesRights",
    shown: "SalesRightsResponse",
  },
];

/** Values of longer enumerations are those of a code list. */
const FEW_VALUES = 8;

/** Shows the table in the element. Returns what search needs of each field. */
export function showFields(element, { components: { schemas } }) {
  const found = [];
  const [product, ...others] = PARTS.map(({ written, shown, ...part }) => ({
    ...part,
    written: schemas[written],
    shown: shown.endsWith("Response") ? schemas[shown].properties.data : schemas[shown],
  }));
  const ownPath = new Map(others.map((part) => [part.path[0], part]));

  /** The table of the fields of an object. */
  function tableOf(path, written, shown) {
    const table = make("table", { className: "fields" });
    const head = make(
      "tr",
      {},
      ...["Field", "Kind and limits", "Meaning"].map((title) =>
        make("th", { scope: "col" }, title)
      ),
    );
    const body = make("tbody");
    const names = new Set([
      ...Object.keys(written.properties ?? {}),
      ...Object.keys(shown.properties ?? {}),
    ]);
    for (const name of names) {
      body.append(...rowsOf([...path, name], name, written, shown));
    }
    table.append(make("thead", {}, head), body);
    return table;
  }

  function rowsOf(path, name, written, shown) {
    const own = path.length === 1 ? ownPath.get(name) : undefined;
    const input = own?.written ?? written.properties?.[name];
    const output = own?.shown ?? shown.properties?.[name];
    const isShownOnly = !own && (!input || input.readOnly);
    const schema = plain(isShownOnly ? output ?? input : input, schemas);
    const { sentence, element, list } = meaningOf(
      written.properties?.[name] ?? shown.properties?.[name],
    );
    const isRequired = !isShownOnly && written.required?.includes(name);
    const id = `fields/${path.join("/")}`;
    // The name of a code is a text.
    const kind = kindOf(schema, name.endsWith("_name") ? undefined : list);
    found.push({ id, path, element, sentence, list });

    const meaning = make("td", {}, ...withCode(sentence));
    if (element) {
      meaning.append(
        " ",
        make(
          "span",
          { className: "onix" },
          "ONIX: ",
          make("code", {}, element),
        ),
      );
    }
    if (list) {
      const link = make("a", { href: `#lists/${list}` }, `List ${list}`);
      meaning.append(" ", make("span", { className: "list" }, link));
    }
    const notes = [
      isRequired && "required",
      isShownOnly && "response only",
      own &&
      `written at its own path, /products/{id}/${name.split("_").slice(1).join("-")}`,
    ].filter(Boolean);
    const row = make(
      "tr",
      { id, tabIndex: -1 },
      make(
        "th",
        { scope: "row" },
        make("a", { href: `#${id}` }, make("code", {}, name)),
        ...notes.map((note) => make("small", {}, note)),
      ),
      make(
        "td",
        {},
        kind,
        ...limitsOf(schema).map((limit) => make("small", {}, limit)),
      ),
      meaning,
    );
    const entries = entriesOf(schema, plain(output, schemas), schemas);
    if (entries.length === 0) return [row];
    const folded = make(
      "details",
      {},
      make("summary", {}, `Fields of ${path.at(-1)}`),
      ...entries.flatMap(({ type, written, shown }) => [
        ...type ? [make("h4", {}, make("code", {}, type))] : [],
        tableOf(type ? [...path, type] : path, written, shown),
      ]),
    );
    return [
      row,
      make("tr", { className: "nested" }, make("td", { colSpan: 3 }, folded)),
    ];
  }

  element.replaceChildren(
    tableOf(product.path, product.written, product.shown),
  );
  return found;
}

/** The schema without null, and without the reference to a named one. */
function plain(schema = {}, schemas) {
  if (schema.$ref) {
    return plain(schemas[schema.$ref.split("/").at(-1)], schemas);
  }
  const options = schema.anyOf?.filter(({ type }) => type !== "null");
  if (options?.length === 1) {
    return { ...plain(options[0], schemas), isNullable: true };
  }
  if (Array.isArray(schema.type)) {
    const type = schema.type.find((type) => type !== "null");
    return { ...schema, type, isNullable: true };
  }
  return schema;
}

/** The objects in an array or a field, by type where they have one, as written and as shown. */
function entriesOf(schema, output, schemas) {
  const inner = plain(schema.items ?? schema, schemas);
  const shown = plain(output.items ?? output, schemas);
  const options = (schema) =>
    (schema.anyOf ?? schema.oneOf ?? [schema]).map((option) => plain(option, schemas));
  const written = options(inner).filter(({ properties }) => properties);
  return written.map((option, i) => ({
    type: written.length > 1 ? typeOf(option) : undefined,
    written: option,
    shown: options(shown)[i] ?? {},
  }));
}

/** The value that tells the type of an entry. */
function typeOf({ properties }) {
  return Object.values(properties).find((field) => field.enum?.length === 1)
    ?.enum[0];
}

/** The parts of a description: the sentence, the ONIX element and the number of the code list. */
function meaningOf({ description = "" } = {}) {
  const [, element] = /ONIX: `(.+?)`/.exec(description) ?? [];
  const [, list] = /ONIX List (\d+)/.exec(description) ?? [];
  const sentence = description.replace(/ ?ONIX: `.+?`\.?/, "")
    .replace(/ ?(?:A code|Codes|The codes) of ONIX List \d+\./, "");
  return { sentence, element, list };
}

function kindOf(
  { type, format, items, enum: values, anyOf, properties },
  list,
) {
  if (type === "array") {
    if (list) return "array of codes";
    return items?.type === "string" ? "array of texts" : "array of objects";
  }
  if (properties) return "object";
  if (list) return "code";
  if (values) return "one of the values";
  const types = anyOf?.map(({ type }) => type) ?? [type];
  if (types.includes("integer")) return "whole number";
  if (types.includes("number")) return "number";
  if (type === "boolean") return "true or false";
  return { "date": "date", "date-time": "time", "uuid": "id" }[format] ??
    "text";
}

function limitsOf(schema) {
  const number = schema.anyOf?.find(({ type }) => type !== "string") ?? schema;
  const { minimum, exclusiveMinimum, maximum } = number;
  const { maxLength, maxItems, minItems, enum: values, isNullable } = schema;
  return [
    maxLength && !schema.examples && `at most ${maxLength} characters`,
    minItems && `at least ${minItems}`,
    maxItems && `at most ${maxItems}`,
    exclusiveMinimum !== undefined && `more than ${exclusiveMinimum}`,
    minimum !== undefined && `from ${minimum}`,
    maximum !== undefined && `up to ${maximum}`,
    values && values.length <= FEW_VALUES && values.join(", "),
    isNullable && "or null",
  ].filter(Boolean);
}

/** The text with what stands between backticks as code. */
function withCode(text) {
  return text.split("`").map((part, i) => i % 2 ? make("code", {}, part) : part);
}
