import * as v from "valibot";
import { codePoints } from "../../values.ts";
import type { Field, Fields } from "../../fields.ts";
import { elementOf } from "../../fields.ts";
import { isObject, MAX_ENTRIES } from "../../objects.ts";
import { type Paths, PathSet } from "../xml/paths.ts";
import { type Element, valueOf } from "../xml/element.ts";
import type { Message } from "../report/report.ts";

/** A report has room for ten thousand records. */
const MAX_MESSAGES = 100;

/** Each round leaves out up to a thousand entries, of which a record has few thousand. */
const MAX_ROUNDS = 1_000;

/** What is found out about a record while it is read. */
export class Reading {
  readonly messages: Message[] = [];
  #record: Element;
  #used = new Set<Element>();
  #sources = new Map<object, Element>();
  #scalars = new Map<string, Element>();
  #paths: Map<Element, string> | undefined;

  #isSilent: boolean;

  /** Without messages, it takes less time. */
  constructor(record: Element, { isSilent = false } = {}) {
    this.#record = record;
    this.#isSilent = isSilent;
  }

  /** Notes that a field holds the value. */
  use(element: Element): void {
    this.#used.add(element);
  }

  /** Notes that a field of the product itself holds the value. */
  useFor(field: string, element: Element): void {
    this.use(element);
    this.#scalars.set(field, element);
  }

  /** Notes from which element an entry was read. */
  from<E extends object>(element: Element, entry: E): E {
    this.#sources.set(entry, element);
    return entry;
  }

  /** The element from which an entry was read. */
  sourceOf(entry: object): Element | undefined {
    return this.#sources.get(entry);
  }

  /** Takes back that fields hold what is in the element. */
  drop(element: Element): void {
    this.#used.delete(element);
    element.children.forEach((child) => this.drop(child));
  }

  warn(
    code: string,
    message: string,
    element: Element,
    rest: { name?: string | null | undefined; value?: string | null } = {},
  ): void {
    this.#say("warning", code, message, element, rest);
  }

  /** Says that a number with a decimal comma is read as one with a point. */
  warnOfComma(element: Element): void {
    this.warn(
      "reformatted",
      "A decimal comma is read as a decimal point",
      element,
    );
  }

  fault(
    code: string,
    message: string,
    element: Element,
    rest: { name?: string | null; value?: string | null } = {},
  ): void {
    this.#say("error", code, message, element, rest);
  }

  #say(
    severity: Message["severity"],
    code: string,
    message: string,
    element: Element,
    { name, value }: {
      name?: string | null | undefined;
      value?: string | null;
    },
  ): void {
    if (this.#isSilent) return;
    const isLast = this.messages.length === MAX_MESSAGES;
    if (isLast && severity === "warning") {
      code = "more_warnings";
      message = "Further warnings of this record are left out";
      name = null;
      value = null;
      element = this.#record;
    } else if (this.messages.length > MAX_MESSAGES && severity === "warning") {
      return;
    }
    const inner = name
      ? element.children.find((c) => c.name === name)
      : element;
    const below = inner ? "" : `/${name}`;
    const path = this.pathOf(inner ?? element) + below;
    const text = value === undefined ? valueOf(inner) ?? null : value;
    this.messages.push({
      severity,
      code,
      path,
      value: shortened(text),
      message,
    });
  }

  /** The path of an element in the record, with positions where its name occurs repeatedly. */
  pathOf(element: Element): string {
    this.#paths ??= pathsIn(this.#record);
    return this.#paths.get(element) ?? `/${this.#record.name}`;
  }

  /** The paths, without positions, of the values that no field holds. */
  unmapped(): Paths {
    const paths = new PathSet();
    paths.addLeaves([this.#record], "", this.#used);
    return paths;
  }

  /**
   * The value in the form in which it is stored, without what its schema refuses. Each
   * refusal is a warning, or an error if it concerns one of these fields.
   */
  settle<T>(
    schema: v.GenericSchema<unknown, T>,
    value: unknown,
    fields: Fields,
    needed: readonly string[] = [],
  ): T {
    const faulty = new Set<string>();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { success, output, issues } = v.safeParse(schema, value);
      if (success) {
        this.#link(value, output);
        return output;
      }
      const refused = issues.map((issue) =>
        this.#refused(issue, value, fields)
      );
      for (const { owner, key, mayFollow, warn } of refused) {
        const id = `${idOf(owner)} ${key}`;
        if (faulty.has(id)) continue;
        faulty.add(id);
        // There was a warning of what is missing now.
        if (mayFollow && round > 0) continue;
        warn(owner === value && needed.includes(String(key)));
      }
      // Later entries go first, so that the positions of the others stay.
      refused.sort((a, b) => Number(b.key) - Number(a.key) || 0);
      const gone = new Set<string>();
      for (const { owner, key, max } of refused) {
        const id = `${idOf(owner)} ${key}`;
        if (gone.has(id)) continue;
        gone.add(id);
        this.#remove(owner, key, max);
      }
    }
    throw new TypeError("Leaving values out did not make the rest valid");
  }

  #remove(owner: object, key: string | number, max: number | undefined): void {
    if (max !== undefined) {
      const entries = (owner as Record<string, unknown[]>)[key]!;
      for (const entry of entries.splice(max)) this.#forget(entry);
    } else if (Array.isArray(owner)) {
      const [entry] = owner.splice(Number(key), 1);
      this.#forget(entry);
    } else {
      const object = owner as Record<string, unknown>;
      this.#forget(object[key]);
      const scalar = this.#scalars.get(String(key));
      if (scalar) this.drop(scalar);
      delete object[key];
    }
  }

  #forget(entry: unknown): void {
    if (Array.isArray(entry)) entry.forEach((each) => this.#forget(each));
    if (!isObject(entry)) return;
    const source = this.#sources.get(entry);
    if (source) this.drop(source);
  }

  /** What to leave out because of an issue: the innermost entry, or an optional field of supply. */
  #refused(issue: v.BaseIssue<unknown>, value: unknown, fields: Fields) {
    const keys = (issue.path ?? []).map(({ key }) => key as string | number);
    const [, code = "invalid", sentence = issue.message] =
      /^(\w+): (.*)$/s.exec(issue.message) ?? [];
    const steps: { owner: object; key: string | number; field?: Field }[] = [];
    let at: unknown = value;
    let below: Fields = fields;
    let field: Field | undefined;
    let source = this.#record;
    for (const key of keys) {
      if (typeof at !== "object" || at === null) break;
      source = this.#sources.get(at) ?? source;
      if (typeof key === "string") {
        field = below[key];
        if (field && "fields" in field) below = field.fields;
        if (field?.kind === "rows" && field.types) {
          below = Object.assign(
            {},
            below,
            ...Object.values(field.types).map(({ fields }) => fields),
          );
        }
      }
      steps.push({ owner: at, key, ...field && { field } });
      at = (at as Record<string | number, unknown>)[key];
    }
    if (typeof at === "object" && at !== null) {
      source = this.#sources.get(at) ?? source;
    }
    const last = steps.at(-1)!;
    const name = typeof last.key === "string" && last.field
      ? elementOf(last.key, last.field)
      : undefined;
    const scalar = steps.length === 1
      ? this.#scalars.get(String(last.key))
      : undefined;
    const warn = (isError: boolean) => {
      const rest = { name: scalar ? null : name ?? null };
      const where = scalar ?? source;
      if (isError) this.fault(code, sentence, where, rest);
      else this.warn(code, sentence, where, rest);
    };
    const limit = last.field?.kind === "list" ? last.field.max : undefined;
    const max = limit ?? MAX_ENTRIES;
    if (code === "too_many" && Array.isArray(at) && at.length > max) {
      return {
        owner: last.owner,
        key: last.key,
        warn,
        max,
        mayFollow: false,
      };
    }
    const index = steps.findLastIndex(({ key }) => typeof key === "number");
    const array = steps[index - 1];
    const inner = steps[index + 1];
    const isWide = array && inner && WIDE.includes(String(array.key));
    const isThere = inner && inner.key in inner.owner;
    const target = index < 0
      ? steps[0]!
      : isWide && isThere
      ? inner
      : steps[index]!;
    // What is left out makes an array empty, or a field missing.
    const mayFollow = code === "too_few" || isWide && !isThere;
    return {
      owner: target.owner,
      key: target.key,
      warn,
      max: undefined,
      mayFollow,
    };
  }

  /** The entries of the output come from the same elements. */
  #link(input: unknown, output: unknown): void {
    if (Array.isArray(input) && Array.isArray(output)) {
      input.forEach((each, i) => this.#link(each, output[i]));
    } else if (isObject(input) && isObject(output)) {
      const source = this.#sources.get(input);
      if (source) this.#sources.set(output, source);
      for (const key in input) this.#link(input[key], output[key]);
    }
  }
}

/** The entries with so much below them that a refused field alone is left out. */
const WIDE = [
  "product_territories",
  "supply_details",
  "contributors",
  "collections",
];

const IDS = new WeakMap<object, number>();
let ids = 0;

function idOf(object: object): number {
  const id = IDS.get(object) ?? ++ids;
  IDS.set(object, id);
  return id;
}

function shortened(text: string | null): string | null {
  return text !== null && codePoints(text) > 200
    ? `${[...text.slice(0, 400)].slice(0, 200).join("")}…`
    : text;
}

function pathsIn(record: Element): Map<Element, string> {
  const paths = new Map<Element, string>();
  const visit = (element: Element, path: string) => {
    paths.set(element, path);
    const counts = new Map<string, number>();
    for (const { name } of element.children) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const seen = new Map<string, number>();
    for (const child of element.children) {
      const position = (seen.get(child.name) ?? 0) + 1;
      seen.set(child.name, position);
      const index = counts.get(child.name)! > 1 ? `[${position}]` : "";
      visit(child, `${path}/${child.name}${index}`);
    }
  };
  visit(record, `/${record.name}`);
  return paths;
}
