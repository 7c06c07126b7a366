/**
 * Escapes the characters that a terminal interprets, as JSON strings may: clients choose
 * names, and other programs write files. JSON itself escapes U+0000 to U+001F only, not
 * the other controls (U+007F to U+009F) nor those of bidirectional text.
 */
export function escapeControls(line: string): string {
  return line.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `escapeControls` for each line of a text. */
export function escapeLines(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}
