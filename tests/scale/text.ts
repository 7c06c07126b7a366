/** Comments, strings and dollar-quoted bodies, which are not part of the statement's structure. */
const OPAQUE = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$/g;

/** The statement on one line in lower case, without comments, quotes and string contents. */
export function bare(statement: string): string {
  return statement
    .replace(OPAQUE, (opaque) => /^['$]/.test(opaque) ? "''" : " ")
    .replaceAll('"', "")
    .replace(/\s+/g, " ")
    .replace(/ ?([()]) ?/g, " $1 ")
    .replace(/ +/g, " ")
    .trim()
    .toLowerCase()
    // Citus treats this as an ordinary table.
    .replace(/^create unlogged table/, "create table");
}

/** The text and the content of each pair of parentheses, each without nested parentheses. */
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

/** The items of a list. Commas within parentheses do not separate. */
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

/** The text between the first parenthesis and its closing one. */
export function inside(text: string): string {
  const start = text.indexOf("(");
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "(") depth++;
    if (text[at] === ")" && --depth === 0) return text.slice(start + 1, at);
  }
  return "";
}
