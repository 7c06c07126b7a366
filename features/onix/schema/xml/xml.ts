/*
 * Texts in XML: characters that it cannot contain, characters that senders write wrongly, and what
 * must be escaped.
 */

/** Characters that XML 1.0 cannot contain, not even as a reference. */
// deno-lint-ignore no-control-regex
const NO_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** The text, with U+FFFD for each character that XML cannot hold, and for lone surrogates. */
export function xmlCharacters(text: string): string {
  return text.toWellFormed().replace(NO_CHARACTER, "\ufffd");
}

/** The controls that are characters in Windows-1252. */
const C1 = /[\x80\x82-\x8c\x8e\x91-\x9c\x9e\x9f]/;

/** The characters of the bytes 80 to 9F in Windows-1252. */
const WINDOWS_1252 = new TextDecoder("windows-1252")
  .decode(Uint8Array.from({ length: 32 }, (_, i) => 0x80 + i));

/** Whether the text has controls that a sender took for characters of Windows-1252. */
export function isRecoded(text: string): boolean {
  return C1.test(text);
}

/** Replaces such controls by the characters that the sender intended. */
export function recoded(text: string): string {
  // Replacing each of a million by an expression would take ten times as long.
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    units[i] = unit >= 0x80 && unit < 0xa0 ? WINDOWS_1252.charCodeAt(unit - 0x80) : unit;
  }
  return UTF_16.decode(units);
}

const UTF_16 = new TextDecoder("utf-16le", { ignoreBOM: true });

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
  return /[&<>\r]/.test(text) ? text.replace(/[&<>\r]/g, (character) => ESCAPES[character]!) : text;
}

/** The text as an attribute's value. */
function escapeAttribute(text: string): string {
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
