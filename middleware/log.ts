import { escapeControls } from "../schema/control_characters.ts";
import { LOG_LEVELS } from "../schema/config.ts";

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
 * The log fields of an error: names, codes and stack frames. They omit the message,
 * which may quote client data.
 */
export function errorFields(thrown: unknown): unknown {
  if (!thrown) return undefined;
  const error = thrown as { [field: string]: string | undefined };
  const { name, code, constraint_name, routine } = error;
  const at = code
    ? undefined
    : error.stack?.split("\n").map((line) => line.trim())
      .filter((line) => line.startsWith("at ")).slice(0, 4);
  return { name, code, constraint_name, routine, at };
}
