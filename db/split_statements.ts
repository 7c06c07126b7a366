/**
 * The end of a statement, or the beginning of a part in which a semicolon does not end
 * it: a comment, a string, a quoted name.
 */
const MARK = /;|--|\/\*|\b[eE]'|'|"|\$(?:[^\W\d]\w*)?\$/g;

/** The end of each part, unless it is the text of its beginning. */
const ENDS: Record<string, string> = { "--": "\n", "/*": "*/" };

/**
 * The statements of an SQL file, with the comments before them. Nested comments and
 * BEGIN ATOMIC bodies are not supported. A string may have any length: one regular
 * expression for all of it would overflow V8's stack.
 */
export function splitStatements(file: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let position = 0;
  let isBlank = true;
  for (;;) {
    MARK.lastIndex = position;
    const { 0: mark, index } = MARK.exec(file) ??
      { 0: ";", index: file.length };
    const isComment = mark in ENDS;
    isBlank &&= !/\S/.test(file.slice(position, index)) &&
      (isComment || mark === ";");
    if (mark !== ";") {
      position = endOfPart(file, mark, index + mark.length);
      continue;
    }
    if (!isBlank) statements.push(file.slice(start, index).trim());
    if (index === file.length) return statements;
    start = position = index + 1;
    isBlank = true;
  }
}

/** The position after the part that began with this mark. */
function endOfPart(file: string, mark: string, position: number): number {
  if (/^e'/i.test(mark)) {
    const step = /\\[^]|'/g;
    step.lastIndex = position;
    while (step.exec(file)?.[0].startsWith("\\"));
    return step.lastIndex || file.length;
  }
  const end = ENDS[mark] ?? mark;
  const found = file.indexOf(end, position);
  return found < 0 ? file.length : found + end.length;
}

/** The statement without the comments and the space before it. */
function withoutComments(statement: string): string {
  const next = /\s*(--|\/\*)?/y;
  for (let position = 0;; next.lastIndex = position) {
    const [space, mark] = next.exec(statement)!;
    position += space.length;
    if (!mark) return statement.slice(position);
    position = endOfPart(statement, mark, position);
  }
}

const ENDS_TRANSACTION =
  /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i;

const COPIES_TO_CLIENT = /^copy\b[^]*\b(?:from\s+stdin|to\s+stdout)\b/i;

/**
 * The statements of an operator's file, which runs in one transaction. Throws an error
 * of one line if a statement cannot be part of it.
 */
export function splitScript(path: string, file: string): string[] {
  const statements = splitStatements(file);
  for (const statement of statements) {
    const text = withoutComments(statement);
    const problem = ENDS_TRANSACTION.test(text)
      ? "the files run in one transaction, remove it"
      : COPIES_TO_CLIENT.test(text)
      ? "only psql can run it, use INSERT"
      : undefined;
    if (problem) throw new Error(`${placeOf(path, statement)}: ${problem}`);
  }
  return statements;
}

/** The place of a statement, for the message of an error: its file and its beginning. */
export function placeOf(path: string, statement: string): string {
  const shown = withoutComments(statement).slice(0, 200).replace(/\s+/g, " ");
  return `${path}: "${shown.slice(0, 60)}"`;
}
