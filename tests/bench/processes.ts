/** Clock ticks per second: 100 on every Linux of Debian. */
const TICKS = 100;

/**
 * The CPU seconds used by a process and its descendants, including ended ones that
 * were waited for. Undefined without a process.
 */
export function cpuSeconds(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  let [before, now] = [familyOf(pid), familyOf(pid)];
  // A process that ends during the reading is counted neither itself nor by its parent.
  while (before.length !== now.length) [before, now] = [now, familyOf(pid)];
  return now.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS;
}

/** The largest peak memory, in MB, of a process and its descendants. */
export function peakMemory(pid: number): number {
  return Math.max(
    ...familyOf(pid).map(({ pid }) => {
      const status = contentOf(`/proc/${pid}/status`);
      return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1000;
    }),
  );
}

/** The process and its descendants, with their ticks, also of children that they waited for (proc(5)). */
function familyOf(pid: number) {
  const processes = new Map(
    Array.from(Deno.readDirSync("/proc"), ({ name }) => Number(name))
      .filter((pid) => pid > 0).map((pid) => {
        const stat = contentOf(`/proc/${pid}/stat`);
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
          .map(Number);
        const ticks = fields.slice(11, 15).reduce((a, b) => a + b, 0);
        return [pid, { pid, parent: fields[1]!, ticks }] as const;
      }),
  );
  const belongs = (one: number): boolean =>
    one === pid ||
    processes.has(one) && belongs(processes.get(one)!.parent);
  return [...processes.values()].filter(({ pid }) => belongs(pid));
}

/** The file's text, or none if the process has ended. */
export function contentOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
