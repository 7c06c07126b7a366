/**
 * The memory of this worker: its heap, and the buffers outside it. The size of the process would
 * include the other workers of `deno test --parallel`.
 */
export function memory(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

/** Runs the work, and returns its result and by how much the memory grew at most. */
export async function withPeak<T>(work: () => Promise<T>): Promise<[result: T, bytes: number]> {
  const before = memory();
  let peak = before;
  const look = () => peak = Math.max(peak, memory());
  const watch = setInterval(look, 10);
  try {
    const result = await work();
    look();
    return [result, peak - before];
  } finally {
    clearInterval(watch);
  }
}
