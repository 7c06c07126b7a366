/** The JSON Pointers of all places in a JSON value, with their values. */
export function placesIn(value: unknown, at = ""): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [[at, value]];
  return [
    [at, value],
    ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, `${at}/${key}`)),
  ];
}

/** A copy of the JSON value with the value at the pointer replaced. */
export function replaced(value: unknown, at: string, by: unknown): unknown {
  const [, key, ...rest] = at.split("/");
  if (key === undefined) return by;
  const inner = Reflect.get(value as object, key);
  const under = rest.length === 0 ? "" : `/${rest.join("/")}`;
  const copy = Array.isArray(value) ? [...value] : { ...value as object };
  Reflect.set(copy, key, replaced(inner, under, by));
  return copy;
}
