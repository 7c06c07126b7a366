/** Comments, strings and dollar-quoted bodies: nothing of them is the statement's own. */
const OPAQUE =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$/g;

/** The statement on one line in lower case, without comments, quotes and what its strings say. */
export function bare(statement: string): string {
  return statement
    .replace(OPAQUE, (opaque) => /^['$]/.test(opaque) ? "''" : " ")
    .replaceAll('"', "")
    .replace(/\s+/g, " ")
    .replace(/ ?([()]) ?/g, " $1 ")
    .replace(/ +/g, " ")
    .trim()
    .toLowerCase()
    // This is an ordinary table for Citus.
    .replace(/^create unlogged table/, "create table");
}

/** The whole text and the inside of each pair of parentheses, each without what lies deeper. */
export function levels(text: string): string[] {
  const closed: string[] = [];
  const open = [""];
  for (const character of text) {
    if (character === "(") {
      open.push("");
    } else if (character === ")" && open.length > 1) {
      closed.push(open.pop()!);
      open.push(`${open.pop()}()`);
    } else {
      open.push(open.pop() + character);
    }
  }
  return [...closed, ...open];
}

/** The items of a list, whose own parentheses may hold commas. */
export function items(list: string): string[] {
  const items = [""];
  let depth = 0;
  for (const character of list) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (character === "," && depth === 0) items.push("");
    else items.push(items.pop() + character);
  }
  return items.map((item) => item.trim());
}

/** What stands between the first parenthesis of the text and the one that closes it. */
export function inside(text: string): string {
  const start = text.indexOf("(");
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "(") depth++;
    if (text[at] === ")" && --depth === 0) return text.slice(start + 1, at);
  }
  return "";
}
