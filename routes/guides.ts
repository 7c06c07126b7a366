import type { Token, Tokens } from "marked";

/*
 * The guides of the reference page. Each is a Markdown file, which a code host shows as well: a
 * title, a sentence on its purpose, and the content. Adjacent code blocks are one sample in several
 * languages. marked parses the files, since it has no dependencies and a grammar of our own would
 * be one more to maintain.
 */

/** The names of the guides in `docs/guides`, in the order of the page. A name is the guide's address. */
export const GUIDES = [
  "start",
  "create",
  "find",
  "batch",
  "sheets",
  "handling",
  "undo",
  "copy",
  "called",
  "onix",
  "nights",
  "ready",
  "recipients",
  "requests",
  "versions",
];

/** The names of the languages on the page, by those of the code blocks. */
const TABS: Record<string, string> = {
  sh: "curl",
  ts: "TypeScript",
  js: "JavaScript",
  python: "Python",
};

/** A guide as HTML, with its title and the first sentence for the start of the page. */
export interface Guide {
  name: string;
  title: string;
  summary: string;
  html: string;
}

/** Reads the guides in their order. */
export async function readGuides(): Promise<Guide[]> {
  const { marked } = await import("marked");
  return await Promise.all(GUIDES.map(async (name) => {
    const [heading, ...content] = marked.lexer(await markdownOf(name));
    const { text: title } = heading as Tokens.Heading;
    const first = content.find(({ type }) => type === "paragraph");
    const [sentence] = (first as Tokens.Paragraph).text.split(/(?<=[.?])\s/);
    const html = samplesIn(content)
      .map((part) => Array.isArray(part) ? sampleOf(part) : marked.parser([part]))
      .join("")
      .replace(/(?<=<a href=")(\w+)\.md(?=")/g, "#$1"); // On the page, a guide is a heading.
    return {
      name,
      title,
      summary: marked.parseInline(sentence!, { async: false }),
      html: `<h2 id="${name}" tabindex="-1">${title}</h2>${html}`,
    };
  }));
}

function markdownOf(name: string): Promise<string> {
  return Deno.readTextFile(
    new URL(`docs/guides/${name}.md`, import.meta.url),
  );
}

/** The content with the code blocks that follow one another as arrays. */
function samplesIn(content: readonly Token[]): (Token | Tokens.Code[])[] {
  const parts: (Token | Tokens.Code[])[] = [];
  for (const token of content.filter(({ type }) => type !== "space")) {
    const last = parts.at(-1);
    if (token.type !== "code") parts.push(token);
    else if (Array.isArray(last)) last.push(token as Tokens.Code);
    else parts.push([token as Tokens.Code]);
  }
  return parts;
}

function sampleOf(blocks: readonly Tokens.Code[]): string {
  const texts = blocks.map(({ lang = "", text }) =>
    `<pre tabindex="0" data-language="${TABS[lang]}">${escaped(text)}</pre>`
  );
  return `<div class="sample">${texts.join("")}</div>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
