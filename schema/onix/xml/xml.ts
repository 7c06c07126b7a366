/** What XML 1.0 cannot hold, not even as a reference, and lone surrogates. */
const NO_CHARACTER =
  // deno-lint-ignore no-control-regex
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text, with U+FFFD for each character that XML cannot hold. */
export function xmlCharacters(text: string): string {
  return text.replace(NO_CHARACTER, "\ufffd");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** The text as content of an element. */
export function escapeText(text: string): string {
  return /[&<>\r]/.test(text)
    ? text.replace(/[&<>\r]/g, (character) => ESCAPES[character]!)
    : text;
}

/** The text as an attribute's value. */
export function escapeAttribute(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) => ESCAPES[character]!);
}

/** A start tag. */
export function startTag(
  name: string,
  attributes: Readonly<Record<string, string>>,
): string {
  let tag = `<${name}`;
  for (const attribute in attributes) {
    tag += ` ${attribute}="${escapeAttribute(attributes[attribute]!)}"`;
  }
  return `${tag}>`;
}
