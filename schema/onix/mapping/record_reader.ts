import * as v from "valibot";
import { codePoints } from "../../values.ts";
import { elementOf, type Field, type Fields } from "../../fields.ts";
import { isObject, MAX_ENTRIES } from "../../objects.ts";
import { MAX_RECORD_MESSAGES, type Message } from "../report/report.ts";
import { limits, TOGETHER } from "../rules/limits.ts";
import { type Element, valueOf } from "../xml/element.ts";
import { isFiller } from "../xml/mend.ts";
import { type Paths, PathSet } from "../xml/paths.ts";

/*
 * What is found out about a record while it is read. In: the codecs say which element holds
 * which value, and what they cannot read. Out: messages with paths, the values that the API
 * would accept, and the paths of what no field holds.
 */

/** The rounds of `keepValid`: what is left out may make something else invalid. */
const MAX_ROUNDS = 3;

interface Told {
  severity: Message["severity"];
  code: string;
  element: Element;
  /** The name of the child that is missing. */
  missing: string | undefined;
  value: string | null;
  message: string;
}

/** What else is said of an element: that it lacks a child, or that its text is not shown. */
interface TellOptions {
  missing?: string | undefined;
  value?: null;
}

/** Finds the element of a field in the composite of its object. */
export type Locate = (
  name: string,
  field: Field,
  composite: Element,
  index: number,
) => Element | undefined;

/** Where an element stands, and what it says. */
export type ElementPlace = Pick<Message, "path" | "value">;

export class RecordReader {
  readonly #record: Element;
  /** Whether nothing is said. */
  readonly isSilent: boolean;
  /** The paths of elements that the record has from elsewhere. */
  readonly #origins: ReadonlyMap<Element, string>;
  /** What has been said of these before. */
  readonly #toldBefore: Set<string>;
  #told: Told[] = [];
  #toldAt = new Map<Element, Set<string>>();
  #more = 0;
  #claimed = new Set<Element>();
  #elements = new Map<object, Element>();
  #fields = new Map<object, Record<string, Element>>();
  #unreadable = new Set<string>();
  #faults = 0;
  /** The steps to the children of composites, which are many. */
  #steps: StepsOfComposites = new Map();

  /** Without messages, it takes less time. */
  constructor(
    record: Element,
    { isSilent = false, origins = new Map(), toldBefore = new Set() }: {
      isSilent?: boolean;
      origins?: ReadonlyMap<Element, string>;
      toldBefore?: Set<string>;
    } = {},
  ) {
    this.#toldBefore = toldBefore;
    this.#record = record;
    this.isSilent = isSilent;
    this.#origins = origins;
  }

  /** Notes that a field holds the value of the element. */
  claim(element: Element): void {
    if (!this.isSilent) this.#claimed.add(element);
  }

  /** Notes from which element an entry was read, and from which elements fields that no path finds. */
  tie<E extends object>(
    element: Element,
    entry: E,
    fields?: Record<string, Element>,
  ): E {
    this.#elements.set(entry, element);
    if (fields) this.#fields.set(entry, fields);
    return entry;
  }

  /** The element from which an entry was read. */
  elementOf(entry: object): Element | undefined {
    return this.#elements.get(entry);
  }

  /** Takes back that fields hold what is in the element. */
  release(element: Element): void {
    this.#claimed.delete(element);
    element.children.forEach((child) => this.release(child));
  }

  /** Warns of an element. The record is written all the same. */
  warn(
    code: string,
    message: string,
    element: Element,
    options?: TellOptions,
  ): void {
    this.#tell("warning", code, message, element, options);
  }

  /** Says why the record is rejected. */
  fault(
    code: string,
    message: string,
    element: Element,
    options?: TellOptions,
  ): void {
    this.#tell("error", code, message, element, options);
  }

  /** Says that an element cannot be read. The entry that it is in stays in the record. */
  unreadable(
    element: Element,
    code: string,
    message: string,
    options?: TellOptions,
  ): void {
    this.#faults++;
    this.warn(code, message, element, options);
  }

  /** Reads something, and says whether all of it could be read. */
  attempt<T>(read: () => T): { result: T; isWhole: boolean } {
    const before = this.#faults;
    const result = read();
    const isWhole = this.#faults === before;
    this.#faults = before;
    return { result, isWhole };
  }

  /** Notes that the record says something for a field of the product, which cannot be read. */
  markUnreadable(field: string): void {
    this.#unreadable.add(field);
  }

  get unreadableFields(): ReadonlySet<string> {
    return this.#unreadable;
  }

  get hasErrors(): boolean {
    return this.#told.some(({ severity }) => severity === "error");
  }

  #tell(
    severity: Message["severity"],
    code: string,
    message: string,
    element: Element,
    { missing, value }: TellOptions = {},
  ): void {
    if (this.isSilent) return;
    const codes = this.#toldAt.getOrInsert(element, new Set());
    const kind = `${code} ${missing ?? ""}`;
    if (codes.has(kind)) return;
    codes.add(kind);
    const origin = this.#origins.get(element);
    if (origin !== undefined) {
      const once = `${origin} ${kind}`;
      if (this.#toldBefore.has(once)) return;
      this.#toldBefore.add(once);
    }
    if (this.#told.length >= MAX_RECORD_MESSAGES && severity === "warning") {
      this.#more++;
      return;
    }
    const text = missing !== undefined || value === null
      ? null
      : shortened(valueOf(element) ?? null);
    this.#told.push({ severity, code, element, missing, value: text, message });
    if (this.#told.length <= MAX_RECORD_MESSAGES) return;
    // An error says why the record is rejected.
    const i = this.#told.findLastIndex((one) => one.severity === "warning");
    this.#told.splice(Math.max(i, MAX_RECORD_MESSAGES - 1), 1);
    this.#more++;
  }

  /** What was said, in the order of the record, and how much more was left out. */
  messages(): { messages: Message[]; more: number } {
    const wanted = new Set(this.#told.map(({ element }) => element));
    const paths = pathsOf(this.#record, wanted);
    const order = new Map([...paths.keys()].map((element, i) => [element, i]));
    const orderOf = ({ element }: Told) => order.get(element) ?? -1;
    const told = this.#told.toSorted((a, b) => orderOf(a) - orderOf(b));
    const messages = told.map(
      ({ severity, code, element, missing, value, message }): Message => {
        const path = this.#origins.get(element) ?? paths.get(element) ?? "";
        const below = missing === undefined ? "" : `/${missing}`;
        return { severity, code, path: path + below, value, message };
      },
    );
    return { messages, more: this.#more };
  }

  /** The path of an element, with positions where its name occurs repeatedly, and its text. */
  placeOf(element: Element): ElementPlace {
    const wanted = new Set([element]);
    const path = pathsOf(this.#record, wanted, this.#steps).get(element) ??
      `/${this.#record.name}`;
    return { path, value: shortened(valueOf(element) ?? null) };
  }

  /** The values that no field holds, but not what the service writes of itself. */
  unmapped(): Paths {
    const paths = new PathSet();
    paths.addLeaves([this.#record], "", this.#claimed, isFiller);
    return paths;
  }

  /**
   * The value as the API accepts it, without what its schema refuses. Each refusal is a
   * warning, or an error if it concerns one of the `needed` fields: that then has the value
   * that stands in for it.
   */
  keepValid<T>(
    schema: v.GenericSchema<unknown, T>,
    value: Record<string, unknown>,
    fields: Fields,
    locate: Locate,
    needed: Readonly<Record<string, unknown>> = {},
  ): T | undefined {
    let issue: v.BaseIssue<unknown> | undefined;
    for (let round = 0; round <= MAX_ROUNDS; round++) {
      const { success, output, issues } = v.safeParse(schema, value);
      if (success) {
        this.#retie(value, output);
        return output;
      }
      issue = issues[0];
      const refused = issues.map((issue) =>
        this.#refused(issue, value, fields, locate)
      );
      for (const one of refused) {
        const isError = one.owner === value && String(one.key) in needed;
        const isFollowing = (one.isMissing || one.mayFollow) &&
          this.#hasLost(one.element);
        if (isFollowing || round > 0 && one.mayFollow) continue;
        const severity = isError ? "error" : "warning";
        this.#tell(severity, one.code, one.message, one.element, one);
      }
      // Later entries go first, so that the positions of the others stay.
      refused.sort((a, b) => Number(b.key) - Number(a.key) || 0);
      const gone = new Map<object, Set<string | number>>();
      for (const { owner, key, max, found } of refused) {
        const keys = gone.getOrInsert(owner, new Set());
        if (keys.has(key)) continue;
        keys.add(key);
        if (owner === value) this.#unreadable.add(String(key));
        this.#remove(owner, key, max, found);
        if (owner === value && key in needed) value[key] = needed[key];
      }
    }
    const { message = "" } = issue ?? {};
    this.fault(
      "refused",
      `The record cannot be read: ${message}`,
      this.#record,
    );
    return undefined;
  }

  /** Whether something in the element was said to be unreadable. */
  #hasLost(element: Element): boolean {
    const said = this.#toldAt.get(element);
    return said !== undefined && !said.values().every(isOfWhatIsRead) ||
      element.children.some((child) => this.#hasLost(child));
  }

  /** Removes a value, which was read from the element that was `found` for it. */
  #remove(
    owner: object,
    key: string | number,
    max: number | undefined,
    found: Element | undefined,
  ): void {
    if (max !== undefined) {
      const entries = (owner as Record<string, unknown[]>)[key]!;
      for (const entry of entries.splice(max)) this.#forget(entry);
    } else if (Array.isArray(owner)) {
      const [entry] = owner.splice(Number(key), 1);
      this.#forget(entry);
    } else {
      const object = owner as Record<string, unknown>;
      this.#forget(object[key]);
      const isOwn = !this.#elements.has(object) && !Array.isArray(object[key]);
      if (found && isOwn) this.release(found);
      delete object[key];
    }
  }

  #forget(entry: unknown): void {
    if (Array.isArray(entry)) entry.forEach((each) => this.#forget(each));
    if (!isObject(entry)) return;
    const element = this.#elements.get(entry);
    if (element) this.release(element);
  }

  /** What to leave out because of an issue, and which element to name. */
  #refused(
    issue: v.BaseIssue<unknown>,
    value: Record<string, unknown>,
    fields: Fields,
    locate: Locate,
  ) {
    const [, code = "invalid", message = issue.message] =
      /^(\w+): (.*)$/s.exec(issue.message) ?? [];
    const steps: IssueStep[] = [];
    let at: unknown = value;
    let below = fields;
    let around = fields;
    let element = this.#record;
    let field: Field | undefined;
    let isExact = true;
    for (const { key } of (issue.path ?? []) as { key: string | number }[]) {
      if (typeof at !== "object" || at === null) break;
      element = this.#elements.get(at) ?? element;
      const next = (at as Record<string | number, unknown>)[key];
      if (typeof key === "string") {
        field = below[key];
        around = below;
        below = field ? fieldsIn(field) : {};
      }
      const index = typeof key === "number" ? key : 0;
      const name = typeof key === "string" ? key : steps.at(-1)?.key;
      const owner = typeof key === "string" ? at : steps.at(-1)?.owner;
      const found = typeof name === "string" && field
        ? this.#fields.get(owner!)?.[name] ??
          locate(name, field, element, index)
        : undefined;
      isExact = found !== undefined;
      steps.push({ owner: at, key, ...field && { field }, found });
      at = next;
    }
    if (typeof at === "object" && at !== null) {
      const own = this.#elements.get(at);
      element = own ?? element;
      isExact ||= own !== undefined;
    }
    const last = steps.at(-1)!;
    const isMissing = at === undefined || !isExact;
    const missing = isMissing ? nameOfMissing(last) : undefined;
    const isAbsent = issue.type === "object" && missing !== undefined;
    const result = {
      code: isAbsent ? "required" : code,
      message: isAbsent
        ? `${element.name} has no ${missing}`
        : inOnix(message, around),
      element: this.#elements.get(at as object) ?? last.found ?? element,
      isMissing,
      missing,
      mayFollow: code === "too_few",
    };
    const max = last.field?.kind === "list" && last.field.max || MAX_ENTRIES;
    if (code === "too_many" && Array.isArray(at) && at.length > max) {
      const first = this.#elements.get(at[max]) ??
        locate(String(last.key), last.field!, element, max) ?? result.element;
      return {
        ...result,
        element: first,
        owner: last.owner,
        key: last.key,
        max,
        found: undefined,
      };
    }
    const target = leftOut(steps);
    const { owner, key, found } = target;
    return { ...result, owner, key, max: undefined, found };
  }

  /** The entries of the output come from the same elements. */
  #retie(input: unknown, output: unknown): void {
    if (Array.isArray(input) && Array.isArray(output)) {
      input.forEach((each, i) => this.#retie(each, output[i]));
    } else if (isObject(input) && isObject(output)) {
      const element = this.#elements.get(input);
      if (element) this.#elements.set(output, element);
      if (element?.id) output.id = element.id;
      for (const key in input) this.#retie(input[key], output[key]);
    }
  }
}

/** The codes of warnings about elements that are read nevertheless. */
const READ = [
  "credentials_removed",
  "escaped_twice",
  "onix21_element",
  "reformatted",
  "windows_1252",
];

function isOfWhatIsRead(kind: string): boolean {
  return READ.includes(kind.slice(0, kind.indexOf(" ")));
}

/** A message that names elements where it names these fields, and the form of dates in ONIX. */
function inOnix(message: string, fields: Fields): string {
  return message.replace("YYYY-MM-DD", "YYYYMMDD").replace(
    /\b[a-z]+(?:_[a-z]+)+\b/g,
    (name) => {
      const field = fields[name];
      return field && elementOf(name, field) || name;
    },
  );
}

/** The first element on the way to the place of a missing field. */
function nameOfMissing({ key, field }: IssueStep): string | undefined {
  const place = typeof key === "string" && field ? elementOf(key, field) : null;
  return place?.replace(/[[/].*$/s, "");
}

/** A step of the path of an issue. */
interface IssueStep {
  owner: object;
  key: string | number;
  field?: Field;
  found: Element | undefined;
}

/**
 * What is left out: the innermost entry, or only its field if the entry keeps its other
 * fields (`keepsRest`). A part that limits an entry takes the entry with it.
 */
function leftOut(steps: readonly IssueStep[]): IssueStep {
  const isEntry = ({ key, field }: IssueStep) =>
    typeof key === "number" && field !== undefined && "fields" in field;
  const last = steps.findLastIndex(isEntry);
  if (last < 0) return steps[0]!;
  const { found } = steps[last]!;
  if (found && TOGETHER.includes(found.name)) return steps[0]!;
  const inner = steps[last + 1];
  const array = steps[last]!.field!;
  const keepsRest = "keepsRest" in array && array.keepsRest;
  const isThere = inner !== undefined && inner.key in inner.owner;
  if (!inner || !keepsRest || !isThere) return steps[last]!;
  // Of several values, such as the roles of a person, only the refused one goes.
  const item = steps[last + 2];
  return item && typeof item.key === "number" && !limitsEntry(inner)
    ? item
    : inner;
}

function limitsEntry({ found }: IssueStep): boolean {
  return found !== undefined && limits(found.name);
}

function fieldsIn(field: Field): Fields {
  if (!("fields" in field)) return {};
  if (field.kind !== "rows" || !field.types) return field.fields;
  return Object.assign(
    {},
    field.fields,
    ...Object.values(field.types).map(({ fields }) => fields),
  );
}

function shortened(text: string | null): string | null {
  return text !== null && codePoints(text) > 200
    ? `${[...text.slice(0, 400)].slice(0, 199).join("")}…`
    : text;
}

/** The steps of paths to the children, by composite. */
type StepsOfComposites = Map<Element, ReadonlyMap<Element, string>>;

/** The paths of these elements, with positions where a name occurs repeatedly. */
function pathsOf(
  record: Element,
  wanted: ReadonlySet<Element>,
  steps: StepsOfComposites = new Map(),
): Map<Element, string> {
  const paths = new Map<Element, string>();
  const way: Element[] = [];
  const stepTo = (element: Element, i: number) => {
    const parent = way[i - 1];
    if (!parent) return `/${element.name}`;
    return steps.getOrInsertComputed(parent, stepsIn).get(element)!;
  };
  const visit = (element: Element) => {
    way.push(element);
    if (wanted.has(element)) paths.set(element, way.map(stepTo).join(""));
    for (const child of element.children) {
      if (paths.size === wanted.size) break;
      visit(child);
    }
    way.pop();
  };
  if (wanted.size > 0) visit(record);
  return paths;
}

/** The steps of paths to the children, with positions where a name occurs repeatedly. */
function stepsIn({ children }: Element): ReadonlyMap<Element, string> {
  const counts = new Map<string, number>();
  const positions = children.map(({ name }) => {
    const position = (counts.get(name) ?? 0) + 1;
    counts.set(name, position);
    return position;
  });
  return new Map(children.map((child, i) => {
    const isRepeated = counts.get(child.name)! > 1;
    const position = isRepeated ? `[${positions[i]}]` : "";
    return [child, `/${child.name}${position}`];
  }));
}
