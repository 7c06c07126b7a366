/** The variable with the path of a file, to which each test appends a line of its time. */
export const TIMES_FILE = "TEST_TIMES_FILE";

/** A line of the file: a file of tests, and the seconds that one of its tests took. */
export type Time = [file: string, seconds: number];

/** Measures the tests that are added until the result is disposed, if `TIMES_FILE` is set. */
export function timesOf(file: string): Disposable {
  const path = Deno.env.get(TIMES_FILE);
  if (!path) return { [Symbol.dispose]() {} };

  const { test } = Deno;
  type Run = (...given: unknown[]) => unknown;
  const timed = (run: Run): Run => async (...given) => {
    const start = performance.now();
    try {
      return await run(...given);
    } finally {
      const time: Time = [file, (performance.now() - start) / 1_000];
      await Deno.writeTextFile(path, `${JSON.stringify(time)}\n`, { append: true });
    }
  };
  // A test is a function, or an object with one.
  const timedPart = (part: unknown) =>
    typeof part === "function"
      ? timed(part as Run)
      : hasFunction(part)
      ? { ...part, fn: timed(part.fn) }
      : part;
  const timing = new Proxy(test, {
    apply: (add, self, given) => Reflect.apply(add, self, given.map(timedPart)),
  });
  Object.assign(Deno, { test: timing });
  return { [Symbol.dispose]: () => void Object.assign(Deno, { test }) };

  function hasFunction(part: unknown): part is { fn: Run } {
    return typeof part === "object" && part !== null && "fn" in part;
  }
}
