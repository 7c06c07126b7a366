/**
 * Whether the longest series of generated cases runs whole (`TEST_WHOLE=true`, as CI
 * does on one of its databases). Otherwise a sample of them runs, which has each kind.
 */
export const IS_WHOLE = Deno.env.get("TEST_WHOLE") === "true";

/** All cases if `IS_WHOLE`, otherwise the first of each kind. */
export function sampleOf<T>(
  cases: readonly T[],
  kindOf: (value: T) => string,
): T[] {
  const kinds = new Set<string>();
  return cases.filter((value) => {
    const isNew = !kinds.has(kindOf(value));
    kinds.add(kindOf(value));
    return IS_WHOLE || isNew;
  });
}
