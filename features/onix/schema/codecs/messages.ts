import { codePoints } from "../../../../schema/values.ts";
import { MAX_RECORD_MESSAGES, type Message } from "../report/message.ts";
import { type Element, valueOf } from "../xml/element.ts";
import { pathsOf, type SegmentsOfComposites } from "../xml/paths.ts";

/*
 * Collects the messages about the elements of a record. In: messages as they are found. Out: each
 * once, in the order of the record, with the path of its element, up to a limit.
 */

interface Reported {
  severity: Message["severity"];
  code: string;
  element: Element;
  /** The name of the child that is missing. */
  missing: string | undefined;
  value: string | null;
  message: string;
}

/** Options of a message: the element lacks a child, or its text is not shown. */
export interface ReportOptions {
  missing?: string | undefined;
  value?: null;
}

/** The path and the text of an element. */
export type ElementLocation = Pick<Message, "path" | "value">;

/** The messages about one record. */
export class Messages {
  readonly #record: Element;
  /** The elements that come from the header, with their paths there. */
  readonly #headerPaths: ReadonlyMap<Element, string>;
  /** The messages about the header that earlier records have reported. */
  readonly #reportedBefore: Set<string>;
  readonly #reported: Reported[] = [];
  readonly #reportedAt = new Map<Element, Set<string>>();
  /** The segments to the children of composites, which are many. */
  readonly #segments: SegmentsOfComposites = new Map();
  #more = 0;
  #reportsOnHeader = false;

  constructor(
    record: Element,
    headerPaths: ReadonlyMap<Element, string>,
    reportedBefore: Set<string>,
  ) {
    this.#record = record;
    this.#headerPaths = headerPaths;
    this.#reportedBefore = reportedBefore;
  }

  /** Whether a message is about the header, or would be if no earlier record had reported it. */
  get reportsOnHeader(): boolean {
    return this.#reportsOnHeader;
  }

  get hasErrors(): boolean {
    return this.#reported.some(({ severity }) => severity === "error");
  }

  /** Adds a message about an element, unless it has the same already. */
  report(
    severity: Message["severity"],
    code: string,
    message: string,
    element: Element,
    { missing, value }: ReportOptions = {},
  ): void {
    const codes = this.#reportedAt.getOrInsert(element, new Set());
    const kind = `${code} ${missing ?? ""}`;
    if (codes.has(kind)) return;
    codes.add(kind);
    const headerPath = this.#headerPaths.get(element);
    if (headerPath !== undefined) {
      this.#reportsOnHeader = true;
      const once = `${headerPath} ${kind}`;
      if (this.#reportedBefore.has(once)) return;
      this.#reportedBefore.add(once);
    }
    if (this.#reported.length >= MAX_RECORD_MESSAGES) {
      this.#more++;
      if (severity === "warning") return;
      // An error is more important, since it rejects the record: the last warning makes room for
      // it.
      this.#reported.splice(this.#reported.findLastIndex(isWarning), 1);
    }
    const text = missing !== undefined || value === null ? null : shownText(element);
    this.#reported.push({ severity, code, element, missing, value: text, message });
  }

  /** Returns the messages in the order of the record, and the number that was left out. */
  inOrder(): { messages: Message[]; more: number } {
    const wanted = new Set(this.#reported.map(({ element }) => element));
    const paths = pathsOf(this.#record, wanted);
    const order = new Map([...paths.keys()].map((element, i) => [element, i]));
    const orderOf = ({ element }: Reported) => order.get(element) ?? -1;
    const reported = this.#reported.toSorted((a, b) => orderOf(a) - orderOf(b));
    const messages = reported.map(
      ({ severity, code, element, missing, value, message }): Message => {
        const path = this.#headerPaths.get(element) ?? paths.get(element) ?? "";
        // An element that is empty is itself what is missing.
        const below = !missing || missing === element.name ? "" : `/${missing}`;
        return { severity, code, path: path + below, value, message };
      },
    );
    return { messages, more: this.#more };
  }

  /**
   * The path of an element, with positions where its name occurs repeatedly, and its text,
   * or the path of what is missing in it.
   */
  locationOf(element: Element, missing?: string): ElementLocation {
    const wanted = new Set([element]);
    const path = pathsOf(this.#record, wanted, this.#segments).get(element) ??
      `/${this.#record.name}`;
    if (!missing) return { path, value: shownText(element) };
    const others = element.children.filter(({ name }) => name === missing);
    const position = others.length > 0 ? `[${others.length + 1}]` : "";
    return { path: `${path}/${missing}${position}`, value: null };
  }

  /** Whether a message reports that a part of the element cannot be read. */
  isLossReported(element: Element): boolean {
    const reported = this.#reportedAt.get(element);
    return reported !== undefined && !reported.values().every(isOfReadElement) ||
      element.children.some((child) => this.isLossReported(child));
  }
}

/** The codes of warnings about elements that are read nevertheless. */
const STILL_READ = [
  "credentials_removed",
  "escaped_twice",
  "onix21_element",
  "reformatted",
  "windows_1252",
];

function isOfReadElement(kind: string): boolean {
  return STILL_READ.includes(kind.slice(0, kind.indexOf(" ")));
}

function isWarning({ severity }: Reported): boolean {
  return severity === "warning";
}

/** The text of an element as messages show it. */
export function shownText(element: Element | undefined): string | null {
  const text = valueOf(element);
  return text === undefined ? null : shortened(text);
}

/** The text, at most 200 characters of it. */
export function shortened(text: string): string {
  return codePoints(text) > 200 ? `${[...text.slice(0, 400)].slice(0, 199).join("")}…` : text;
}
