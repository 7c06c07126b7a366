const WIDTH = 30;

/** How often the bar is drawn anew. */
const REDRAW_MS = 100;

/** A line at the bottom of a terminal that shows how far a command is. */
export interface ProgressBar {
  /** Shows how many lines are done, and the share of all, where it is known. */
  show(lines: number, share?: number): void;
  /** Prints a line above the bar. */
  print(line: string): void;
  /** Draws it a last time. */
  end(): void;
}

/** A bar on the standard error stream; nothing is drawn where that is no terminal. */
export function openProgressBar(what: string): ProgressBar {
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
    show(lines, share) {
      const now = performance.now();
      const rate = Math.round(lines / Math.max(0.001, (now - start) / 1000));
      current = `${what} ${bar(share)}${grouped(lines)} lines, ${
        grouped(rate)
      } a second`;
      if (now < drawnAt + REDRAW_MS) return;
      drawnAt = now;
      draw(`\r\x1b[K${drawn = current}`);
    },
    print(line) {
      if (drawn) draw("\r\x1b[K");
      console.error(line);
      draw(drawn);
    },
    end() {
      if (current) draw(`\r\x1b[K${current}\n`);
    },
  };
}

function bar(share?: number): string {
  if (share === undefined) return "";
  const filled = "█".repeat(Math.round(share * WIDTH)).padEnd(WIDTH, "░");
  return `${filled} ${String(Math.floor(share * 100)).padStart(3)} %  `;
}

function grouped(count: number): string {
  return count.toLocaleString("en");
}
