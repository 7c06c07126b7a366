/**
 * Settles as the promise does, or throws what `otherwise` gives where that has
 * not happened at `deadline`, in milliseconds of `performance.now()`. What the
 * promise stands for goes on.
 */
export async function before<T>(
  deadline: number,
  promise: Promise<T>,
  otherwise: () => Error,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(otherwise()),
    Math.max(0, deadline - performance.now()),
  );
  return await Promise.race([promise, late])
    .finally(() => clearTimeout(timer));
}

/** Settles after so many milliseconds; at once where there are none. */
export async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
