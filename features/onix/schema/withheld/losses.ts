import type { Element } from "../xml/element.ts";

/*
 * A loss is an element that the service cannot use although it limits the composite around it: its
 * value cannot be read, or no release of ONIX allows it there. `withhold` collects the losses of a
 * record, and its caller reports them.
 *
 * `<CountriesIncluded>XQ</CountriesIncluded>` in the territory of a price: a loss with the code
 * `invalid_code`. The price is withheld, since it would be valid everywhere without its territory.
 */

/** An element that is lost, and why. Without a message, the reason is reported elsewhere. */
export interface Loss {
  element: Element;
  code?: string;
  message?: string;
  /** The name of the child that it lacks. */
  missing?: string | undefined;
}

export const NO_LOSSES: readonly Loss[] = [];

/** Returns the loss of an element that repeats an earlier one, where only one is allowed. */
export function duplicate(element: Element): Loss {
  return {
    element,
    code: "duplicate",
    message: "Only one is allowed, and there is an earlier one: both are kept in the record",
  };
}
