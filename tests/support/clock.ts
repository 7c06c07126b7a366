/** Lets the clocks of this process run ahead by so many milliseconds, until it is disposed of. */
export function clockAhead(ms: number): Disposable {
  const { now } = Date;
  const monotonic = performance.now;
  Date.now = () => now() + ms;
  performance.now = () => monotonic.call(performance) + ms;
  return {
    [Symbol.dispose]() {
      Date.now = now;
      performance.now = monotonic;
    },
  };
}
