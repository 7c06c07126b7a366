/** Formats rows as aligned columns, or as JSON for scripts. */
export function format(
  rows: readonly Record<string, unknown>[],
  json: boolean,
): string {
  if (json) {
    return JSON.stringify(rows, null, 2).replace(/[\x7f-\x9f]/g, escaped);
  }
  const [first] = rows;
  if (!first) return "None";
  const columns = Object.keys(first);
  const lines = [
    columns,
    ...rows.map((row) =>
      columns.map((column) =>
        String(row[column] ?? "-").replace(/\p{Cc}/gu, escaped)
      )
    ),
  ];
  const widths = columns.map((_, i) =>
    Math.max(...lines.map((line) => line[i]!.length))
  );
  return lines.map((line) =>
    line.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd()
  ).join("\n");
}

/** The escape of a control character. Clients choose names, and terminals interpret such characters. */
function escaped(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
