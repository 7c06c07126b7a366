/** The kernel's clock ticks in a second, which is 100 on every Linux that Debian has. */
const TICKS = 100;

/**
 * The seconds of CPU that a process and all that come from it have used, those
 * that ended and were waited for included; undefined without a process.
 */
export function cpuSeconds(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  let [before, now] = [family(pid), family(pid)];
  // One that ends in the midst of a reading counts neither for itself nor for its parent.
  while (pidsOf(before) !== pidsOf(now)) [before, now] = [now, family(pid)];
  return now.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS;
}

function pidsOf(processes: Process[]): string {
  return String(processes.map(({ pid }) => pid));
}

/** The most memory, in MB, that one of a process and those that come from it has had in RAM. */
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
  /** Its own time, and that of the children that it waited for. */
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

/** Fields of proc(5): parent, then user and system time, its own and of children that it waited for. */
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
    // It ended meanwhile.
    return undefined;
  }
}
