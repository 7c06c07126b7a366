/** Clock ticks per second: 100 on every Linux of Debian. */
const TICKS = 100;

/**
 * The CPU seconds used by a process and its descendants, including ended ones that
 * were waited for. Undefined without a process.
 */
export function cpuSeconds(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  let [before, now] = [family(pid), family(pid)];
  // A process that ends during the reading is counted neither itself nor by its parent.
  while (pidsOf(before) !== pidsOf(now)) [before, now] = [now, family(pid)];
  return now.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS;
}

function pidsOf(processes: Process[]): string {
  return String(processes.map(({ pid }) => pid));
}

/** The largest peak memory, in MB, of a process and its descendants. */
export function peakMemory(pid: number): number {
  const peaks = family(pid).map(({ pid }) => {
    const status = contentOf(`/proc/${pid}/status`) ?? "";
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1000;
  });
  return Math.max(...peaks);
}

interface Process {
  pid: number;
  parent: number;
  /** The time of the process and of the children that it waited for. */
  ticks: number;
}

function family(pid: number): Process[] {
  const processes = new Map<number, Process>();
  for (const { name } of Deno.readDirSync("/proc")) {
    const process = /^\d+$/.test(name) ? read(Number(name)) : undefined;
    if (process) processes.set(process.pid, process);
  }
  const belongs = (of: number): boolean =>
    of === pid || processes.has(of) && belongs(processes.get(of)!.parent);
  return [...processes.values()].filter(({ pid }) => belongs(pid));
}

/** Fields of proc(5): parent, user and system time, own and of waited-for children. */
function read(pid: number): Process | undefined {
  const stat = contentOf(`/proc/${pid}/stat`);
  if (!stat) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number);
  const ticks = fields.slice(11, 15).reduce((sum, time) => sum + time, 0);
  return { pid, parent: fields[1]!, ticks };
}

function contentOf(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    // The process has ended meanwhile.
    return undefined;
  }
}
