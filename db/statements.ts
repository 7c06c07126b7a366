/** What may hide a semicolon: a comment, a string, a quoted name, a dollar-quoted body. */
const OPAQUE =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$/y;

/**
 * The statements of an SQL file, one by one: a distributed database takes no
 * two in a message. Backslash escapes in strings (`E'\''`) are not known here.
 */
export function statementsOf(file: string): string[] {
  const statements: string[] = [];
  let start = 0;
  for (let at = 0; at < file.length; at++) {
    OPAQUE.lastIndex = at;
    const opaque = OPAQUE.exec(file);
    if (opaque) at = OPAQUE.lastIndex - 1;
    else if (file[at] === ";") {
      statements.push(file.slice(start, at).trim());
      start = at + 1;
    }
  }
  const rest = file.slice(start).trim();
  return rest.replace(/--[^\n]*/g, "").trim()
    ? [...statements, rest]
    : statements;
}
