import { escapeControls } from "../../schema/control_characters.ts";

/** Formats rows as aligned columns, or as JSON for scripts. */
export function format(
  rows: readonly Record<string, unknown>[],
  json: boolean,
): string {
  if (json) {
    const lines = JSON.stringify(rows, null, 2).split("\n");
    return lines.map(escapeControls).join("\n");
  }
  const [first] = rows;
  if (!first) return "None";
  const columns = Object.keys(first);
  const lines = [
    columns,
    ...rows.map((row) =>
      columns.map((column) => escapeControls(String(row[column] ?? "-")))
    ),
  ];
  const widths = columns.map((_, i) =>
    Math.max(...lines.map((line) => line[i]!.length))
  );
  return lines.map((line) =>
    line.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd()
  ).join("\n");
}
