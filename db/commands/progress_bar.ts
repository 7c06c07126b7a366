const WIDTH = 30;

/** How often the bar is drawn anew. */
const REDRAW_MS = 100;

/** A bar on the standard error stream; nothing is drawn where that is no terminal. */
export function openProgressBar(what: string) {
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
    /** Shows how many lines are done, and the share of all, where it is known. */
    show(lines: number, share?: number): void {
      const now = performance.now();
      const rate = Math.round(lines / Math.max(0.001, (now - start) / 1000));
      current = `${what} ${bar(share)}${lines.toLocaleString("en")} lines, ${
        rate.toLocaleString("en")
      } a second`;
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
    /** Draws it a last time. */
    end(): void {
      if (current) draw(`\r\x1b[K${current}\n`);
    },
  };
}

function bar(share?: number): string {
  if (share === undefined) return "";
  const filled = "█".repeat(Math.round(share * WIDTH)).padEnd(WIDTH, "░");
  return `${filled} ${String(Math.floor(share * 100)).padStart(3)} %  `;
}
