/** With so many connections pgbench and the peers read most: fewer leave cores idle, more are in each other's way. */
export const READERS = 2 * navigator.hardwareConcurrency;

/** The machine and what runs on it, for whoever reads the results later. */
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
