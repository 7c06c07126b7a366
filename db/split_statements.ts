/** A semicolon, what may hide one (a comment, a string, a quoted name, a dollar-quoted body), or what lies between. */
const PART =
  /;|--[^\n]*|\/\*[\s\S]*?\*\/|[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|\s+|[^;'"$/eE\s-]+|[\s\S]/g;

const SAYS_NOTHING = /^(?:\s|--|\/\*)/;

/**
 * The statements of an SQL file, one by one: a distributed database takes no
 * two in a message. Comments within comments are not known here.
 */
export function statementsOf(file: string): string[] {
  const statements: string[] = [];
  let statement = "";
  let saysNothing = true;
  function end() {
    if (!saysNothing) statements.push(statement.trim());
    statement = "";
    saysNothing = true;
  }
  for (const [part] of file.matchAll(PART)) {
    if (part === ";") {
      end();
    } else {
      statement += part;
      saysNothing &&= SAYS_NOTHING.test(part);
    }
  }
  end();
  return statements;
}
