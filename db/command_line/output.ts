import { escapeControls, escapeLines } from "../../schema/control_characters.ts";

/*
 * Prints the output of commands: tables, progress bars, and text without characters that a terminal
 * interprets.
 */

/** Formats rows as aligned columns, or as JSON for scripts. */
export function format(
  rows: readonly Record<string, unknown>[],
  json: boolean,
): string {
  if (json) return JSON.stringify(rows, null, 2);
  const [first] = rows;
  if (!first) return "None";
  const columns = Object.keys(first);
  const lines = [
    columns,
    ...rows.map((row) => columns.map((column) => escapeControls(String(row[column] ?? "-")))),
  ];
  const widths = columns.map((_, i) =>
    lines.reduce((width, line) => Math.max(width, line[i]!.length), 0)
  );
  return lines.map((line) => line.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd())
    .join("\n");
}

const BAR_WIDTH = 30;

const REDRAW_MS = 100;

const CLEAR = "\r\x1b[K";

/** A progress bar on standard error, invisible unless that is a terminal. */
export function openProgressBar(label: string, unit = "lines") {
  const isTerminal = Deno.stderr.isTerminal();
  const start = performance.now();
  let drawnAt = -Infinity;
  let line = "";

  function draw(text: string): void {
    if (isTerminal) Deno.stderr.writeSync(new TextEncoder().encode(text));
  }

  return {
    /** Shows the number of processed units, with their share of the total (0 to 1), or their bytes if that is unknown. */
    show(
      units: number,
      { share, bytes }: { share?: number; bytes?: number },
    ): void {
      const now = performance.now();
      const seconds = Math.max(0.001, (now - start) / 1000);
      const rate = Math.round(units / seconds).toLocaleString("en");
      const done = units.toLocaleString("en");
      const size = bytes === undefined ? "" : `${(bytes / 1e6).toFixed(1)} MB, `;
      line = `${label} ${bar(share)}${size}${done} ${unit}, ${rate} a second`;
      if (now < drawnAt + REDRAW_MS) return;
      drawnAt = now;
      draw(CLEAR + line);
    },
    print(message: string): void {
      draw(CLEAR);
      console.error(escapeControls(message));
      draw(line);
    },
    /** Draws the last state and ends the line. */
    [Symbol.dispose](): void {
      if (line) draw(`${CLEAR}${line}\n`);
    },
  };
}

function bar(share?: number): string {
  if (share === undefined) return "";
  const filled = "█".repeat(Math.round(share * BAR_WIDTH))
    .padEnd(BAR_WIDTH, "░");
  return `${filled} ${String(Math.floor(share * 100)).padStart(3)} %  `;
}

/** Thrown when the reader of the output has closed it, as `head` does. */
export class ReaderGone extends Error {}

/**
 * Writes to standard output. Characters that a terminal interprets are escaped if it is one: texts
 * of clients may contain them. Throws `ReaderGone`.
 */
export async function writeOut(part: string | Uint8Array): Promise<void> {
  const bytes = typeof part === "string"
    ? new TextEncoder().encode(Deno.stdout.isTerminal() ? escapeLines(part) : part)
    : part;
  try {
    for (let sent = 0; sent < bytes.length;) {
      sent += await Deno.stdout.write(bytes.subarray(sent));
    }
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) throw new ReaderGone();
    const { message } = error as Error;
    throw new Error(`The output cannot be written: ${message}`);
  }
}
