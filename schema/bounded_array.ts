import * as v from "valibot";
import { MAX_ERRORS } from "./errors.ts";

/**
 * `v.array` without the validation of more entries after `MAX_ERRORS`: an error takes
 * fifty times as long as a valid value, and a body has room for 100,000.
 */
export function boundedArray<const S extends v.GenericSchema>(
  entry: S,
): v.ArraySchema<S, undefined> {
  return {
    ...v.array(entry),
    "~run"(dataset, config) {
      let errors = 0;
      const counting: S = {
        ...entry,
        "~run"(value, config) {
          if (errors > MAX_ERRORS) return { typed: true, value: value.value };
          const result = entry["~run"](value, config);
          errors += result.issues?.length ?? 0;
          return result;
        },
      };
      return v.array(counting)["~run"](dataset, config);
    },
  };
}
