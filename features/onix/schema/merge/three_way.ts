import { isEqual } from "../../../../schema/objects.ts";

/*
 * The rule of a three-way merge. In: a value in the sender's previous record (base), in its new
 * record (incoming) and in the stored product (local). Out: which sides have changed it.
 *
 * Base 9.99, incoming 9.99, local 8.99: the local change stays. Base 9.99, incoming 10.99,
 * local 8.99: a conflict.
 */

/** A value on the three sides of a merge. */
export interface ThreeWay<T = unknown> {
  base: T;
  incoming: T;
  local: T;
}

/** Which sides have changed a value since the base. */
export interface Changes {
  isIncomingChanged: boolean;
  isLocalChanged: boolean;
  /** Whether both sides have changed it, and to different values. */
  isConflict: boolean;
}

/** Finds which sides have changed a value. `unedited`: the local value without an edit, if not the base. */
export function changesOf({ base, incoming, local }: ThreeWay, unedited = base): Changes {
  const isIncomingChanged = !isEqual(incoming, base);
  const isLocalChanged = !isEqual(local, unedited);
  const isConflict = isIncomingChanged && isLocalChanged && !isEqual(local, incoming);
  return { isIncomingChanged, isLocalChanged, isConflict };
}
