import { isObject } from "./objects.ts";

/**
 * The fields of a valid body that its schema dropped, such as `publisher_name`, or
 * `contributors.contributor_name` in an array.
 */
export function ignoredFields(input: unknown, output: unknown): string[] {
  const names = new Set<string>();
  collect(input, output, "", names);
  return [...names];
}

function collect(
  input: unknown,
  output: unknown,
  at: string,
  names: Set<string>,
): void {
  if (Array.isArray(input) && Array.isArray(output)) {
    input.forEach((entry, i) => collect(entry, output[i], at, names));
  } else if (isObject(input) && isObject(output)) {
    for (const [name, value] of Object.entries(input)) {
      if (!Object.hasOwn(output, name)) names.add(at + name);
      else if (typeof value === "object") {
        collect(value, output[name], `${at}${name}.`, names);
      }
    }
  }
}
