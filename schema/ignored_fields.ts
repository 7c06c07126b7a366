import { isObject } from "./objects.ts";

/**
 * The fields of a valid body that its schema dropped: `publisher_name`, or
 * `contributors.contributor_name` inside an array.
 */
export function ignoredFields(input: unknown, output: unknown): string[] {
  const names = new Set(dropped(input, output));
  if (isObject(input) && isObject(output)) {
    for (const [name, entries] of Object.entries(output)) {
      const sent = input[name];
      if (!Array.isArray(entries) || !Array.isArray(sent)) continue;
      for (const [index, entry] of entries.entries()) {
        for (const field of dropped(sent[index], entry)) {
          names.add(`${name}.${field}`);
        }
      }
    }
  }
  return [...names];
}

function dropped(input: unknown, output: unknown): string[] {
  if (!isObject(input) || !isObject(output)) return [];
  return Object.keys(input).filter((name) => !Object.hasOwn(output, name));
}
