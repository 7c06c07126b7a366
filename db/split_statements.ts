/** A semicolon, a token that may contain one (such as a string), or other text. */
const PART =
  /;|--[^\n]*|\/\*[\s\S]*?\*\/|\b[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|\s+|[^;'"$/eE\s-]+|[\s\S]/g;

const BLANK = /^(?:\s|--|\/\*)/;

/** The statements of an SQL file. Nested comments and BEGIN ATOMIC bodies are not supported. */
export function splitStatements(file: string): string[] {
  const statements: string[] = [];
  let statement = "";
  let isBlank = true;
  function end() {
    if (!isBlank) statements.push(statement.trim());
    statement = "";
    isBlank = true;
  }
  for (const [part] of file.matchAll(PART)) {
    if (part === ";") {
      end();
    } else {
      statement += part;
      isBlank &&= BLANK.test(part);
    }
  }
  end();
  return statements;
}
