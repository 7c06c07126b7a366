import { localName } from "./facts.ts";

/*
 * The part of XHTML that texts may contain as elements: text with other markup is sent as
 * HTML that is escaped, which holds everything.
 */

const PHRASES =
  "span br em strong dfn code samp kbd var cite abbr acronym q sub sup tt i b big small"
    .split(" ");
const INLINE = ["a", ...PHRASES];
const BLOCK = "div p h1 h2 h3 h4 h5 h6 ul ol dl address hr pre blockquote"
  .split(" ");
const FLOW = [...INLINE, ...BLOCK];
const PREFORMATTED = INLINE.filter((name) => !["sub", "sup", "big", "small"].includes(name));

/** What the elements contain, if not inline elements and text. */
const CONTENT: Readonly<Record<string, readonly string[]>> = {
  div: FLOW,
  li: FLOW,
  dd: FLOW,
  ul: ["li"],
  ol: ["li"],
  dl: ["dt", "dd"],
  blockquote: BLOCK,
  pre: PREFORMATTED,
  a: PHRASES,
  br: [],
  hr: [],
};

/** The elements without text of their own. */
const WITHOUT_TEXT = ["ul", "ol", "dl", "blockquote", "br", "hr"];

const NOT_EMPTY = ["ul", "ol", "dl"];

const XHTML_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ["href", "title", "class"],
};

const TAG = /<(\/?)([^\s/<>]+)(?=[\s/>])([^<>]*)>|[^<]+/g;

interface OpenTag {
  name: string;
  content: readonly string[];
  children: number;
}

/** Whether the markup is well-formed XHTML of this part. */
export function isValidXhtml(markup: string): boolean {
  const open: OpenTag[] = [{ name: "", content: FLOW, children: 0 }];
  for (const [token, end, name, attributes = ""] of markup.matchAll(TAG)) {
    const parent = open.at(-1)!;
    if (name === undefined) {
      if (WITHOUT_TEXT.includes(parent.name) && /\S/.test(token)) return false;
    } else if (end) {
      const closed = open.pop()!;
      if (closed.name !== name) return false;
      if (NOT_EMPTY.includes(name) && closed.children === 0) return false;
    } else {
      if (
        !parent.content.includes(name) || !hasOwnAttributes(name, attributes)
      ) {
        return false;
      }
      parent.children++;
      const isEmpty = attributes.endsWith("/");
      if (isEmpty && NOT_EMPTY.includes(name)) return false;
      if (!isEmpty) {
        open.push({ name, content: CONTENT[name] ?? INLINE, children: 0 });
      }
    }
  }
  return open.length === 1;
}

function hasOwnAttributes(name: string, attributes: string): boolean {
  const known = XHTML_ATTRIBUTES[name] ?? ["title", "class", "style"];
  const names = [...attributes.matchAll(/(?<![^\s="])([^\s="]+)="[^"]*"/g)]
    .map(([, attribute]) => localName(attribute!));
  return names.every((attribute) => known.includes(attribute));
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
};

/** The text of markup without its tags. */
export function withoutTags(markup: string): string {
  return markup.replace(
    /<[^<>]*>/g,
    (tag) => /^<\/?(?:p|br|li|div)\b/.test(tag) ? " " : "",
  )
    .replace(/&(lt|gt|amp|quot|apos);/g, (_, name) => ENTITIES[name]!)
    .replace(/&#13;/g, "\r");
}
