import { type Command, type Described, read, uuid } from "./arguments.ts";
import type { Statement } from "../connections/sql.ts";

type Row = Record<string, unknown>;

/** A command that lists what an organization has. */
export function listing(
  described: Described,
  find: Statement<Row>,
): Command {
  return {
    ...described,
    parse(args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        json: { type: "boolean" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      return async (connect) =>
        listed(await connect(organizationId).scan(find), values.json);
    },
  };
}

/** Rows as people read them, in columns, or as JSON for scripts. */
function listed(
  rows: Row[],
  json?: boolean,
): string {
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
