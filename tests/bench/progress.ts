const WIDTH = 30;

/** Draws a progress bar on a terminal. Without one, prints a line at the end. */
export function showProgress(what: string, done: number, of: number): void {
  if (!Deno.stderr.isTerminal()) {
    if (done === of) console.error(what);
    return;
  }
  const filled = Math.round(done / of * WIDTH);
  const bar = "█".repeat(filled).padEnd(WIDTH, "░");
  const percent = String(Math.floor(done / of * 100)).padStart(3);
  Deno.stderr.writeSync(new TextEncoder().encode(
    `\r\x1b[K${what.padEnd(34)} ${bar} ${percent} %${done === of ? "\n" : ""}`,
  ));
}
