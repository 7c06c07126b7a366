const WIDTH = 30;

/** The least time between two redraws. */
const REDRAW_MS = 100;

/** A progress bar on standard error, invisible unless that is a terminal. */
export function openProgressBar(label: string) {
  const isTerminal = Deno.stderr.isTerminal();
  const start = performance.now();
  let drawnAt = -Infinity;
  let drawn = "";
  let current = "";

  function draw(text: string): void {
    if (!isTerminal) return;
    Deno.stderr.writeSync(new TextEncoder().encode(text));
  }

  return {
    /** Shows the number of processed lines, and their share of the total (0 to 1) if known. */
    show(lines: number, share?: number): void {
      const now = performance.now();
      const seconds = Math.max(0.001, (now - start) / 1000);
      const rate = Math.round(lines / seconds).toLocaleString("en");
      const done = lines.toLocaleString("en");
      current = `${label} ${bar(share)}${done} lines, ${rate} a second`;
      if (now < drawnAt + REDRAW_MS) return;
      drawnAt = now;
      draw(`\r\x1b[K${drawn = current}`);
    },
    /** Prints a line above the bar. */
    print(line: string): void {
      if (drawn) draw("\r\x1b[K");
      console.error(line);
      draw(drawn);
    },
    /** Draws the last state and ends the line. */
    [Symbol.dispose](): void {
      if (current) draw(`\r\x1b[K${current}\n`);
    },
  };
}

function bar(share?: number): string {
  if (share === undefined) return "";
  const filled = "█".repeat(Math.round(share * WIDTH)).padEnd(WIDTH, "░");
  return `${filled} ${String(Math.floor(share * 100)).padStart(3)} %  `;
}
