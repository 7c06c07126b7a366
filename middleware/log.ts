import { pause, withDeadline } from "../db/connections/deadline.ts";
import { escapeControls } from "../schema/control_characters.ts";
import { LOG_LEVELS } from "../schema/config.ts";
import { type Defect, DEFECTS } from "../schema/defects.ts";
import { EVENTS } from "./events.ts";

/* The log: JSON lines to standard output, without client data, and without blocking requests. */

type Level = typeof LOG_LEVELS[number];

/** Writes a log line. Callers pass no secrets. */
export type Log = (level: Level, fields: Record<string, unknown>) => void;

/** A log of JSON lines at this level and above. */
export function createLog(level: Level, write: (line: string) => void): Log {
  return (of, fields) => {
    if (LOG_LEVELS.indexOf(of) >= LOG_LEVELS.indexOf(level)) {
      write(logLine(of, fields));
    }
  };
}

/** A log entry as a line of JSON. */
export function logLine(level: Level, fields: Record<string, unknown>): string {
  const time = new Date().toISOString();
  return escapeControls(JSON.stringify({ time, level, ...fields })) + "\n";
}

/**
 * The log fields of an error: names, codes and stack frames, and the claim of a token that
 * is not as expected. They omit the message, which may quote client data.
 */
export function errorFields(thrown: unknown): unknown {
  if (!thrown) return undefined;
  const error = thrown as { [field: string]: string | undefined };
  const { name, code, constraint_name, routine, claim } = error;
  const at = code ? undefined : error.stack?.split("\n").map((line) => line.trim())
    .filter((line) => line.startsWith("at ")).slice(0, 4);
  return { name, code, constraint_name, routine, claim, at };
}

/** The log fields of a connection error. Its message quotes no client data. */
export function causeOf(error: unknown): { code: string | undefined; message: string } {
  const { code, message } = error as Error & { code?: string };
  return { code, message };
}

/** Logs defects that a response or a report shows only as a failure of one record. */
export function logDefects(log: Log): void {
  DEFECTS.subscribe((published) => {
    const { error, product } = published as Defect;
    const cause = errorFields(error);
    log("error", { message: EVENTS.defect, product, cause });
  });
}

/** The number of characters that may wait for a blocked stream. */
const MAX_UNWRITTEN = 1_048_576;

/** The interval between writes: writing lines together is cheaper. */
const WRITE_INTERVAL_MS = 50;

const FLUSH_MS = 500;

/** An output that never blocks, never throws and uses bounded memory. */
export interface LogOutput {
  /**
   * Queues whole lines. They are dropped if too many wait or the stream fails. Resolves, at
   * any later time, to whether they were written.
   */
  write(lines: string): Promise<boolean>;
  /** Waits until every line is written or dropped. Returns false after half a second. */
  flush(): Promise<boolean>;
}

interface OutputStream {
  write(bytes: Uint8Array): Promise<number>;
}

/**
 * An output to a stream such as `Deno.stdout`. When the stream recovers from a
 * failure, a log line reports the number of dropped lines.
 */
export function openOutput(stream: OutputStream): LogOutput {
  let waiting = "";
  /** Settles when the waiting lines are written or dropped. */
  let outcome = Promise.withResolvers<boolean>();
  let dropped = 0;
  /** Whether the last write failed within a line. */
  let isTorn = false;
  let writing: Promise<void> | undefined;

  /** Writes one batch at a time: a write to an unread pipe never ends. */
  async function writeAll(): Promise<void> {
    do {
      await pause(WRITE_INTERVAL_MS);
      const [lines, lost, sending] = [waiting, dropped, outcome];
      [waiting, dropped, outcome] = ["", 0, Promise.withResolvers()];
      const isSent = await send(report(lost) + lines);
      sending.resolve(isSent);
      if (isSent) continue;
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
        sent += await writeSome(stream, bytes.subarray(sent));
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
      const fits = waiting.length + lines.length <= MAX_UNWRITTEN;
      if (fits) waiting += lines;
      else dropped += countLines(lines);
      const isWritten = fits ? outcome.promise : Promise.resolve(false);
      writing ??= writeAll();
      return isWritten;
    },
    async flush() {
      if (waiting || dropped > 0) writing ??= writeAll();
      if (!writing) return true;
      const written = writing.then(() => true);
      const late = () => new Error("The stream is blocked");
      return await withDeadline(performance.now() + FLUSH_MS, written, late)
        .catch(() => false);
    },
  };
}

/**
 * Writes some of the bytes, and waits while a stream without blocking, such as a terminal that
 * another program has changed, has no room.
 */
async function writeSome(stream: OutputStream, bytes: Uint8Array): Promise<number> {
  for (;; await pause(WRITE_INTERVAL_MS)) {
    try {
      return await stream.write(bytes);
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
    }
  }
}

function report(lines: number): string {
  return lines === 0 ? "" : logLine("warn", { message: EVENTS.linesDropped, lines });
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}
