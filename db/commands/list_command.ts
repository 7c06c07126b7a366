import { type Command, type CommandHelp, read, uuid } from "./arguments.ts";
import type { Statement } from "../connections/sql.ts";

type Row = Record<string, unknown>;

/** A command that lists rows of an organization. */
export function listCommand(
  help: CommandHelp,
  find: Statement<Row>,
): Command {
  return {
    ...help,
    parse(args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        json: { type: "boolean" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      return async (connect) =>
        format(await connect(organizationId).scan(find), values.json);
    },
  };
}

/** Formats rows as columns for people, or as JSON for scripts. */
export function format(rows: Row[], json?: boolean): string {
  if (json) return JSON.stringify(rows, null, 2);
  const [first] = rows;
  if (!first) return "None";
  const columns = Object.keys(first);
  const lines = [
    columns,
    ...rows.map((row) => columns.map((column) => String(row[column] ?? "-"))),
  ];
  const widths = columns.map((_, i) =>
    Math.max(...lines.map((line) => line[i]!.length))
  );
  return lines.map((line) =>
    line.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd()
  ).join("\n");
}
