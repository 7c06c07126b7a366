/*
 * A record of ONIX for Books as a tree. Names are reference names, whatever the tags of
 * the message were, and have no namespace.
 */

/** An element: either a composite with children, or a data element with a value. */
export interface Element {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: Element[];
  /** The value of a data element. In an element with `markup` it is XHTML as XML text, else plain text. */
  text: string;
  /** Whether the value contains XHTML elements. */
  markup?: true;
  /** Its line in the message. */
  line?: number;
}

/** A data element, or a composite with these children. */
export function element(
  name: string,
  content: string | Element[],
  attributes: Record<string, string> = {},
): Element {
  return typeof content === "string"
    ? { name, attributes, children: [], text: content }
    : { name, attributes, children: content, text: "" };
}

/** The first child with this name. */
export function child(parent: Element, name: string): Element | undefined {
  return parent.children.find((child) => child.name === name);
}

/** All children with this name. */
export function childrenOf(parent: Element, name: string): Element[] {
  return parent.children.filter((child) => child.name === name);
}

/** The value with white space normalized, or undefined without a value. */
export function valueOf(element: Element | undefined): string | undefined {
  const value = element?.text.replace(/[ \t\r\n]+/g, " ").trim();
  return value === "" ? undefined : value;
}

/** The value of the first child with this name. */
export function childValue(parent: Element, name: string): string | undefined {
  return valueOf(child(parent, name));
}

/** A copy whose children can be replaced without changing the original. */
export function copyOf(element: Element): Element {
  return { ...element, children: element.children.map(copyOf) };
}
