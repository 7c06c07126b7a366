/** A semicolon, a part that may contain one (comment, string, quoted name, dollar-quoted body), or any other text. */
const PART =
  /;|--[^\n]*|\/\*[\s\S]*?\*\/|[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|\s+|[^;'"$/eE\s-]+|[\s\S]/g;

const SAYS_NOTHING = /^(?:\s|--|\/\*)/;

/**
 * The statements of an SQL file, since Citus takes only one in a message. Nested
 * comments are not supported.
 */
export function splitStatements(file: string): string[] {
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
