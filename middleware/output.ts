import { before, pause } from "../db/connections/deadline.ts";
import { logLine } from "./log.ts";

/** At most this many characters wait for a stream that takes nothing. */
const MOST_WAITING = 1_048_576;

/** Lines are gathered for this long: one write for many is cheaper than one each. */
const GATHER_MS = 50;

/** An output that never blocks the process, never throws and never fills its memory. */
export interface Output {
  /** Writes whole lines soon. They are dropped when too many wait or when the stream fails. */
  write(lines: string): void;
  /** Waits until every line is written or dropped. Gives false when that takes longer than `ms`. */
  flush(ms: number): Promise<boolean>;
}

/**
 * An output on a stream such as `Deno.stdout`. When writing works again after a
 * failure, a line of the log says how many lines were dropped.
 */
export function openOutput(
  stream: { write(bytes: Uint8Array): Promise<number> },
): Output {
  let waiting = "";
  let dropped = 0;
  /** The last write failed within a line, to which the next must not be glued. */
  let isTorn = false;
  let writing: Promise<void> | undefined;

  /** One write at a time: a write to a pipe that nobody reads never ends. */
  async function writeAll(): Promise<void> {
    do {
      await pause(GATHER_MS);
      const [lines, lost] = [waiting, dropped];
      [waiting, dropped] = ["", 0];
      if (await send(report(lost) + lines)) continue;
      dropped += lost + countLines(lines);
      break;
    } while (waiting || dropped > 0);
    writing = undefined;
  }

  async function send(text: string): Promise<boolean> {
    const bytes = new TextEncoder().encode((isTorn ? "\n" : "") + text);
    let sent = 0;
    try {
      while (sent < bytes.length) {
        sent += await stream.write(bytes.subarray(sent));
      }
      isTorn = false;
      return true;
    } catch {
      isTorn ||= sent > 0;
      return false;
    }
  }

  return {
    write(lines) {
      if (waiting.length + lines.length <= MOST_WAITING) waiting += lines;
      else dropped += countLines(lines);
      writing ??= writeAll();
    },
    async flush(ms) {
      if (waiting || dropped > 0) writing ??= writeAll();
      if (!writing) return true;
      const written = writing.then(() => true);
      const late = () => new Error("The stream takes nothing");
      return await before(performance.now() + ms, written, late)
        .catch(() => false);
    },
  };
}

/** What the log says of so many dropped lines. */
function report(lines: number): string {
  return lines === 0
    ? ""
    : logLine("warn", { message: "Lines of the log were dropped", lines });
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}
