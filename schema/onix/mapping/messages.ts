import { codePoints } from "../../values.ts";
import { MAX_RECORD_MESSAGES, type Message } from "../report/message.ts";
import { type Element, valueOf } from "../xml/element.ts";
import { pathsOf, type StepsOfComposites } from "../xml/paths.ts";

/*
 * The messages about the elements of a record. In: messages as they are found. Out: each once,
 * in the order of the record, with the path of its element, and not too many.
 */

interface Told {
  severity: Message["severity"];
  code: string;
  element: Element;
  /** The name of the child that is missing. */
  missing: string | undefined;
  value: string | null;
  message: string;
}

/** What else is reported of an element: that it lacks a child, or that its text is not shown. */
export interface TellOptions {
  missing?: string | undefined;
  value?: null;
}

/** Where an element stands, and what it says. */
export type ElementPlace = Pick<Message, "path" | "value">;

/** The messages about one record. */
export class Messages {
  readonly #record: Element;
  /** The elements that come from the header, with their paths there. */
  readonly #headerPaths: ReadonlyMap<Element, string>;
  /** What earlier records of the message have told about them. */
  readonly #toldBefore: Set<string>;
  readonly #told: Told[] = [];
  readonly #toldAt = new Map<Element, Set<string>>();
  /** The steps to the children of composites, which are many. */
  readonly #steps: StepsOfComposites = new Map();
  #more = 0;
  #tellsOfHeader = false;

  constructor(
    record: Element,
    headerPaths: ReadonlyMap<Element, string>,
    toldBefore: Set<string>,
  ) {
    this.#record = record;
    this.#headerPaths = headerPaths;
    this.#toldBefore = toldBefore;
  }

  /** Whether a message is about the header, or would be if no earlier record had told it. */
  get tellsOfHeader(): boolean {
    return this.#tellsOfHeader;
  }

  get hasErrors(): boolean {
    return this.#told.some(({ severity }) => severity === "error");
  }

  /** Notes a message about an element, unless it has the same already. */
  tell(
    severity: Message["severity"],
    code: string,
    message: string,
    element: Element,
    { missing, value }: TellOptions = {},
  ): void {
    const codes = this.#toldAt.getOrInsert(element, new Set());
    const kind = `${code} ${missing ?? ""}`;
    if (codes.has(kind)) return;
    codes.add(kind);
    const headerPath = this.#headerPaths.get(element);
    if (headerPath !== undefined) {
      this.#tellsOfHeader = true;
      const once = `${headerPath} ${kind}`;
      if (this.#toldBefore.has(once)) return;
      this.#toldBefore.add(once);
    }
    if (this.#told.length >= MAX_RECORD_MESSAGES) {
      this.#more++;
      if (severity === "warning") return;
      // An error says why the record is rejected: the last warning makes room for it.
      this.#told.splice(this.#told.findLastIndex(isWarning), 1);
    }
    const text = missing !== undefined || value === null ? null : shownText(element);
    this.#told.push({ severity, code, element, missing, value: text, message });
  }

  /** What was reported, in the order of the record, and how much more was left out. */
  inOrder(): { messages: Message[]; more: number } {
    const wanted = new Set(this.#told.map(({ element }) => element));
    const paths = pathsOf(this.#record, wanted);
    const order = new Map([...paths.keys()].map((element, i) => [element, i]));
    const orderOf = ({ element }: Told) => order.get(element) ?? -1;
    const told = this.#told.toSorted((a, b) => orderOf(a) - orderOf(b));
    const messages = told.map(
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
  placeOf(element: Element, missing?: string): ElementPlace {
    const wanted = new Set([element]);
    const path = pathsOf(this.#record, wanted, this.#steps).get(element) ??
      `/${this.#record.name}`;
    if (!missing) return { path, value: shownText(element) };
    const others = element.children.filter(({ name }) => name === missing);
    const position = others.length > 0 ? `[${others.length + 1}]` : "";
    return { path: `${path}/${missing}${position}`, value: null };
  }

  /** Whether a message says that something in the element cannot be read. */
  isLossTold(element: Element): boolean {
    const told = this.#toldAt.get(element);
    return told !== undefined && !told.values().every(isOfWhatIsRead) ||
      element.children.some((child) => this.isLossTold(child));
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

function isWarning({ severity }: Told): boolean {
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
