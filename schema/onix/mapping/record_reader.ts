import { dataElement } from "../rules/facts.ts";
import { codesOfKind, expectedCodes } from "../rules/kinds.ts";
import { child, type Element, hasText, valueOf } from "../xml/element.ts";
import { isFiller } from "../xml/fillers.ts";
import { type Paths, PathSet, pathsOf } from "../xml/paths.ts";
import { Messages, type TellOptions } from "./messages.ts";

/*
 * What is found out about a record while it is read. In: the codecs say which element holds
 * which value, and what they cannot read. Out: messages, the elements of entries, and the
 * paths of what no field holds.
 */

/**
 * What reading a record finds out. A codec claims the elements whose values a field holds, ties
 * entries to their elements, and fails at what it cannot read: `attempt` sees that.
 */
export class RecordReader {
  readonly record: Element;
  /** Whether nothing is reported. */
  readonly isSilent: boolean;
  /** Whether what the API refuses is read, too. */
  readonly isLenient: boolean;
  readonly messages: Messages;
  /** The elements whose values fields hold. */
  readonly #claimed = new Set<Element>();
  /** The entries that say nothing. */
  readonly #empty = new Set<Element>();
  /** The elements of entries. */
  readonly #elements = new Map<object, Element>();
  /** The fields of which something cannot be read. */
  readonly #unreadableFields = new Set<string>();
  /** How often something could not be read in the attempt that is under way. */
  #failures = 0;

  /** A silent reader keeps no claims and no messages, and is faster. */
  constructor(
    record: Element,
    {
      isSilent = false,
      isLenient = false,
      headerPaths = new Map(),
      toldBefore = new Set(),
    }: {
      isSilent?: boolean;
      isLenient?: boolean;
      headerPaths?: ReadonlyMap<Element, string>;
      toldBefore?: Set<string>;
    } = {},
  ) {
    this.record = record;
    this.isSilent = isSilent;
    this.isLenient = isLenient;
    this.messages = new Messages(record, headerPaths, toldBefore);
  }

  /** Notes that a field holds the value of the element. */
  claim(element: Element): void {
    if (!this.isSilent) this.#claimed.add(element);
  }

  /** Remembers the element of an entry, and gives the entry that element's id. */
  tie<E extends object>(element: Element, entry: E): E {
    this.#elements.set(entry, element);
    return element.id ? Object.assign(entry, { id: element.id }) : entry;
  }

  /** The element from which an entry was read. */
  elementOf(entry: object): Element | undefined {
    return this.#elements.get(entry);
  }

  /** Withdraws the claims on an element and all that is in it. */
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
    if (!this.isSilent) this.messages.tell("warning", code, message, element, options);
  }

  /** Says why the record is rejected. */
  reject(
    code: string,
    message: string,
    element: Element,
    options?: TellOptions,
  ): void {
    if (!this.isSilent) this.messages.tell("error", code, message, element, options);
  }

  /** Warns of an element that cannot be read. The entry that it is in stays in the record alone. */
  failAt(
    element: Element,
    code: string,
    message: string,
    options?: TellOptions,
  ): void {
    this.fail();
    this.warn(code, message, element, options);
  }

  /** Warns of an entry in which a part is missing or empty. It stays in the record alone. */
  warnOfMissing(entry: Element, missing: string): void {
    const message = `${entry.name} has no ${missing}`;
    const at = child(entry, missing) ?? entry;
    this.warn("required", message, at, { missing });
    if (!hasText(entry)) this.#empty.add(entry);
  }

  /** Fails at an entry without the code that says which field it is of. */
  failWithoutCode(entry: Element, code: string): void {
    this.fail();
    this.warnOfMissing(entry, code);
  }

  /** Notes that what is read stays in the record alone. Its sender knows why, or need not know. */
  fail(): void {
    this.#failures++;
  }

  /** Accepts any text of a kind that has no list of codes, else a code of the list. Fails at another. */
  acceptCode(code: string, element: Element, kind: string): boolean {
    const codes = codesOfKind(kind);
    if (!codes || codes.has(code)) return true;
    this.failAt(element, "invalid_code", expectedCodes(kind, [code]));
    return false;
  }

  /** Warns of a child whose value is no code of its list. */
  checkCode(composite: Element, name: string): void {
    const found = child(composite, name);
    const code = valueOf(found);
    if (found && code) this.acceptCode(code, found, dataElement(name)!.kind);
  }

  /** Warns of another element where a field can have one value, unless it is a translation. */
  warnOfOther(each: Element, first: Element): void {
    if (each === first || !hasText(each)) return;
    if (each.attributes.language !== first.attributes.language) return;
    const message = "An earlier one counts: this one is kept in the record";
    this.warn("duplicate", message, each);
  }

  /**
   * Reads something, and says whether all of it could be read. A failure in it does not count
   * for the attempt around it.
   */
  attempt<T>(read: () => T): { result: T; isWhole: boolean } {
    const before = this.#failures;
    const result = read();
    const isWhole = this.#failures === before;
    this.#failures = before;
    return { result, isWhole };
  }

  /** Notes a field of the product for which the record says what cannot be read. */
  markUnreadable(field: string): void {
    this.#unreadableFields.add(field);
  }

  get unreadableFields(): ReadonlySet<string> {
    return this.#unreadableFields;
  }

  /** What no field holds: values, but not what the service writes of itself, and empty entries. */
  unmapped(): Paths {
    const paths = new PathSet();
    paths.addLeaves([this.record], "", this.#claimed, isFiller);
    for (const path of pathsOf(this.record, this.#empty).values()) {
      paths.add(path.replaceAll(/\[\d+\]/g, ""));
    }
    return paths;
  }
}
