import { dataElement } from "../rules/facts.ts";
import { codesOfKind, expectedCodes } from "../rules/kinds.ts";
import { child, type Element, hasText, valueOf } from "../xml/element.ts";
import { isPlaceholder } from "../valid/placeholders.ts";
import { type Paths, PathSet, pathsOf } from "../xml/paths.ts";
import { Messages, type ReportOptions } from "./messages.ts";

/*
 * Collects the results of reading a record. Codecs call it with the elements that they have read or
 * cannot read. Out: messages, the elements of entries, and the paths of elements without a field.
 */

/**
 * The results of reading a record. A codec claims the elements whose values fields hold, ties
 * entries to their elements, and fails at unreadable ones, which `attempt` detects.
 */
export class RecordReader {
  readonly record: Element;
  /** Whether nothing is reported. */
  readonly isSilent: boolean;
  /** Whether values that the API refuses are read as well. */
  readonly isLenient: boolean;
  readonly messages: Messages;
  /** The elements whose values fields hold. */
  readonly #claimed = new Set<Element>();
  /** The entries without content. */
  readonly #empty = new Set<Element>();
  /** The elements of entries. */
  readonly #elements = new Map<object, Element>();
  /** The fields with an unreadable part. */
  readonly #unreadableFields = new Set<string>();
  /** The number of failures in the current attempt. */
  #failures = 0;

  /** A silent reader keeps no claims and no messages, and is faster. */
  constructor(
    record: Element,
    {
      isSilent = false,
      isLenient = false,
      headerPaths = new Map(),
      reportedBefore = new Set(),
    }: {
      isSilent?: boolean;
      isLenient?: boolean;
      headerPaths?: ReadonlyMap<Element, string>;
      reportedBefore?: Set<string>;
    } = {},
  ) {
    this.record = record;
    this.isSilent = isSilent;
    this.isLenient = isLenient;
    this.messages = new Messages(record, headerPaths, reportedBefore);
  }

  /** Records that a field holds the value of the element. */
  claim(element: Element): void {
    if (!this.isSilent) this.#claimed.add(element);
  }

  /** Records the element of an entry, and gives the entry that element's id. */
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
    options?: ReportOptions,
  ): void {
    if (!this.isSilent) this.messages.report("warning", code, message, element, options);
  }

  /** Rejects the record with a message. */
  reject(
    code: string,
    message: string,
    element: Element,
    options?: ReportOptions,
  ): void {
    if (!this.isSilent) this.messages.report("error", code, message, element, options);
  }

  /** Warns of an element that cannot be read. The entry that it is in stays in the record alone. */
  failAt(
    element: Element,
    code: string,
    message: string,
    options?: ReportOptions,
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

  /** Fails at an entry without the code that decides its field. */
  failWithoutCode(entry: Element, code: string): void {
    this.fail();
    this.warnOfMissing(entry, code);
  }

  /** Records that the element stays only in the record, without a message. */
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

  /** Warns of another element where a field can have one value, unless it is in another language or script. */
  warnOfOther(each: Element, first: Element): void {
    if (each === first || !hasText(each)) return;
    const { language, textscript } = first.attributes;
    if (each.attributes.language !== language || each.attributes.textscript !== textscript) return;
    const message = "An earlier one counts: this one is kept in the record";
    this.warn("duplicate", message, each);
  }

  /**
   * Reads a part, and returns whether all of it could be read. Its failures do not count for the
   * attempt around it.
   */
  attempt<T>(read: () => T): { result: T; isWhole: boolean } {
    const before = this.#failures;
    const result = read();
    const isWhole = this.#failures === before;
    this.#failures = before;
    return { result, isWhole };
  }

  /** Records a field whose value in the record is unreadable. */
  markUnreadable(field: string): void {
    this.#unreadableFields.add(field);
  }

  get unreadableFields(): ReadonlySet<string> {
    return this.#unreadableFields;
  }

  /**
   * Returns the paths of values without a field, except empty entries and values that the service
   * writes itself.
   */
  unmapped(): Paths {
    const paths = new PathSet();
    paths.addLeaves([this.record], "", this.#claimed, isPlaceholder);
    for (const path of pathsOf(this.record, this.#empty).values()) {
      paths.add(path.replaceAll(/\[\d+\]/g, ""));
    }
    return paths;
  }
}
