/** Yields the same values, and reads the next one while one is used. */
export async function* readAhead<T>(values: AsyncGenerator<T, void>): AsyncGenerator<T> {
  for (let next = values.next();;) {
    const { value, done } = await next;
    if (done) return;
    next = values.next();
    // It is awaited after the use of this value, which may fail.
    next.catch(() => {});
    yield value;
  }
}
