/** Levels of the log, the most talkative first. */
export const LEVELS = ["debug", "info", "warn", "error"] as const;

export type Level = typeof LEVELS[number];

/** Writes one line of the log; fields never hold what a client or an operator keeps secret. */
export type Log = (level: Level, fields: Record<string, unknown>) => void;

/** Lines wait so long for company: one write for many costs less than one each. */
const FLUSH_MS = 50;

/**
 * A log of JSON lines, of this level and above. `flush` writes what still
 * waits, before the process ends.
 */
export function createLog(
  level: Level,
  write: (text: string) => void,
): { log: Log; flush: () => void } {
  let lines = "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush() {
    clearTimeout(timer);
    timer = undefined;
    if (lines) write(lines);
    lines = "";
  }

  function log(of: Level, fields: Record<string, unknown>) {
    if (LEVELS.indexOf(of) < LEVELS.indexOf(level)) return;
    lines += JSON.stringify({
      time: new Date().toISOString(),
      level: of,
      ...fields,
    }) + "\n";
    timer ??= setTimeout(flush, FLUSH_MS);
  }

  return { log, flush };
}

/**
 * What has failed, for those who run the service: names, codes and places.
 * Messages may quote what a client sent, so they stay out.
 */
export function described(thrown: unknown): unknown {
  const cause = thrown as
    | {
      name?: string;
      code?: string;
      constraint_name?: string;
      routine?: string;
      stack?: string;
    }
    | null
    | undefined;
  if (!cause) return undefined;
  const { name, code, constraint_name, routine } = cause;
  const at = code
    ? undefined
    : cause.stack?.split("\n").map((line) => line.trim())
      .filter((line) => line.startsWith("at ")).slice(0, 4);
  return { name, code, constraint_name, routine, at };
}
