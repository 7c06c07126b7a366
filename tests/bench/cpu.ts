/** The kernel's clock ticks in a second, which is 100 on every Linux that Debian has. */
const TICKS = 100;

/**
 * The seconds of CPU that a process and all that come from it have used, those
 * that ended and were waited for included; undefined without a process.
 */
export function cpuSeconds(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  const processes = new Map<number, { parent: number; ticks: number }>();
  for (const { name } of Deno.readDirSync("/proc")) {
    const process = /^\d+$/.test(name) ? read(name) : undefined;
    if (process) processes.set(Number(name), process);
  }
  const isOfIt = (of: number): boolean =>
    of === pid || processes.has(of) && isOfIt(processes.get(of)!.parent);
  let ticks = 0;
  for (const [of, process] of processes) if (isOfIt(of)) ticks += process.ticks;
  return ticks / TICKS;
}

/** Fields of proc(5): parent, then user and system time, its own and of children that it waited for. */
function read(pid: string): { parent: number; ticks: number } | undefined {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, time) => sum + time, 0);
    return { parent: fields[1]!, ticks };
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}
