/** Advances the clocks of this process by `ms` milliseconds until it is disposed. */
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
