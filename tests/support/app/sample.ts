const WHOLE = Deno.env.get("TEST_WHOLE");

/**
 * Whether the longest series of generated cases run in full (`TEST_WHOLE=true`, as CI does on one
 * of its databases). Otherwise a sample of them runs, which has each kind.
 */
export const IS_WHOLE = WHOLE === "true";

/**
 * Whether the embedded database is one of several that tests run on (`TEST_WHOLE=embedded`). Then
 * the long series of `shards/shard.ts` are left to a server, and those that run on no server run
 * in full.
 */
export const IS_ONE_OF_SEVERAL = WHOLE === "embedded";

/** The same as `IS_WHOLE` for a file that runs on the embedded database alone. */
export const IS_WHOLE_ON_EMBEDDED = IS_WHOLE || IS_ONE_OF_SEVERAL;

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
