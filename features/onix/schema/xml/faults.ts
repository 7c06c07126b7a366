/*
 * Explains faults of XML that is not well-formed: what is wrong, and what to write. The messages
 * of the parser (saxes 6) name no remedy, and often no position.
 */

/** The state of the parser at a fault. */
export interface ParserState {
  /** What was parsed last, up to the fault. */
  before: string;
  /** The start tag and the attribute that were read last. */
  tag: string;
  attribute: string;
  /** The innermost element that is open, and the one that ended last. */
  open: Tag | undefined;
  ended: Tag | undefined;
}

/** A start tag, and the line in which it begins. */
export interface Tag {
  name: string;
  line: number;
}

/** A sentence, and the length of the text that it is about, which ends where the parser has stopped. */
export interface Explanation {
  message: string;
  length: number;
}

interface Fault {
  /** The words of the parser, which may end with a name. */
  words: RegExp;
  message: (state: ParserState, name: string) => string;
  /** The text that it is about, at the end of the parsed text. Default: the last character. */
  about?: RegExp;
}

const NO_TAG = "write &lt; for a < that begins no tag";

const LAST_TAG = /<[^<]*$/;
const LAST_REFERENCE = /&[^&]*$/;

const FAULTS: readonly Fault[] = [
  { words: /^disallowed character$/, message: disallowed },
  {
    words: /^malformed character entity$/,
    message: ({ before }) =>
      `XML cannot hold the character ${LAST_REFERENCE.exec(before)}: remove it`,
    about: LAST_REFERENCE,
  },
  {
    words: /^the string "]]>"/,
    message: () => "The characters ]]> must be written as ]]&gt;",
    about: /]]>$/,
  },
  {
    words: /in tag name$/,
    message: ({ tag }) => `Expected > or an attribute after <${tag}: ${NO_TAG}`,
  },
  {
    words: /in attribute name$/,
    message: ({ tag }) => `Expected > or an attribute in <${tag}>: ${NO_TAG}`,
  },
  {
    words: /^forward-slash in opening tag/,
    message: ({ tag }) => `Expected > after the / of <${tag}/>`,
  },
  {
    words: /^unquoted attribute value$/,
    message: ({ tag, attribute }) =>
      `The attribute ${attribute} of <${tag}> must have its value in straight quotes: ${attribute}="…"`,
  },
  {
    words: /^attribute without value$/,
    message: ({ tag, attribute }) =>
      `The attribute ${attribute} of <${tag}> has no value: write ${attribute}="…", or &lt; for a < that begins no tag`,
  },
  {
    words: /^no whitespace between attributes$/,
    message: ({ tag }) => `Expected a space between the attributes of <${tag}>`,
  },
  {
    words: /^duplicate attribute: (.*)$/,
    message: ({ tag }, name) => `<${tag}> has the attribute ${name} twice`,
  },
  {
    words: /^unexpected close tag$/,
    message: ({ before, ended }) =>
      `Expected </${ended!.name}>, the end of <${ended!.name}> in line ${ended!.line}, not ${
        LAST_TAG.exec(before)
      }`,
    about: LAST_TAG,
  },
  {
    words: /^unmatched closing tag: (.*)$/,
    message: (_, name) => `</${name}> ends nothing: its start tag is missing`,
    about: LAST_TAG,
  },
  {
    words: /^weird empty close tag$/,
    message: () => "Expected the name of an element in </>",
    about: LAST_TAG,
  },
  {
    words: /in closing tag$/,
    message: () => "Expected > after the name of an end tag",
  },
  {
    words: /^unclosed tag: (.*)$/,
    message: ({ open }, name) =>
      `The message ends within <${name}> of line ${
        open!.line
      }: it was cut off, or </${name}> is missing`,
    about: /$/,
  },
  {
    words: /^unexpected end$/,
    message: () => "The message ends within a comment or a tag",
    about: /$/,
  },
  {
    words: /^malformed comment$/,
    message: () => "A comment must not contain --",
  },
  {
    words: /^document must contain a root element$/,
    message: () => "The message is empty: expected XML that begins with <ONIXMessage>",
    about: /$/,
  },
  {
    words: /^text data outside of root node$/,
    message: ({ ended }) =>
      ended
        ? "The message goes on after its end: remove what follows"
        : "Expected XML that begins with <ONIXMessage>, not text",
    about: /[^\s>][^>]*$/,
  },
  {
    words: /^documents may contain only one root$/,
    message: () => "A second message begins here: send one at a time",
    about: LAST_TAG,
  },
  {
    words: /XML declaration|version|encoding|standalone|^value|^whitespace/,
    message: () =>
      'Expected an XML declaration as <?xml version="1.0" encoding="UTF-8"?>, at the very beginning',
    about: LAST_TAG,
  },
];

/** Explains a fault, which the parser has described in these words. */
export function explain(words: string, state: ParserState): Explanation {
  const known = FAULTS.find((fault) => fault.words.test(words));
  if (!known) {
    return { message: `The XML is not well-formed: ${words}`, length: 1 };
  }
  const { message, about = /.$/s } = known;
  const [, name = ""] = known.words.exec(words)!;
  const [text = ""] = about.exec(state.before) ?? [];
  return { message: message(state, name), length: text.length };
}

function disallowed({ before }: ParserState): string {
  const character = [...before].at(-1)!;
  const code = character.codePointAt(0)!.toString(16).toUpperCase();
  return character === "<"
    ? misused("<")
    : `XML cannot hold the character U+${code.padStart(4, "0")}: remove it`;
}

/** The sentence about a `&` or `<` that begins no reference and no tag. */
export function misused(mark: string): string {
  const reference = mark === "&" ? "&amp;" : "&lt;";
  return `The character ${mark} must be written as ${reference}`;
}

/** The sentence about a reference to a character by a name, as in HTML. */
export function unknownEntity(name: string): string {
  return `XML does not know &${name};: write the character itself, or &amp; for the character &`;
}
