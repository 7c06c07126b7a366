/**
 * Escapes control characters as JSON strings may, for a line of output: clients choose
 * names, and terminals interpret such characters. JSON itself leaves U+007F to U+009F.
 */
export function escapeControls(line: string): string {
  return line.replace(
    /\p{Cc}/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
