/** The number of connections with which pgbench and the peers read fastest: fewer leave cores idle, more contend. */
export const READERS = 2 * navigator.hardwareConcurrency;

/** The machine and its load, in one line. */
export function describeMachine(): string {
  const [, model] = /^model name\s*: (.*)$/m.exec(
    Deno.readTextFileSync("/proc/cpuinfo"),
  ) ?? [];
  const memory = Deno.systemMemoryInfo().total / 2 ** 30;
  const [load] = Deno.loadavg();
  return [
    new Date().toISOString().slice(0, 16).replace("T", " "),
    `${navigator.hardwareConcurrency} × ${model ?? Deno.build.arch}`,
    `${memory.toFixed(0)} GiB`,
    `load ${load!.toFixed(1)} before the start`,
    `Deno ${Deno.version.deno}`,
  ].join(", ");
}
