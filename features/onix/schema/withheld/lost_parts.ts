import { didYouMean, speller } from "../../../../schema/spelling.ts";
import {
  childNames,
  compositeSince21,
  isComposite,
  isPartOf,
  knownTag,
  nameInOnix21,
} from "../rules/facts.ts";
import { adds, limits, PERIODS } from "../rules/limits.ts";
import { type Element, hasText } from "../xml/element.ts";
import { type Loss, NO_LOSSES } from "./losses.ts";
import { hasLimitingRole, lossOfContradiction, lossOfPeriod, lossOfValue } from "./lost_values.ts";
import { invalidPartsIn, lossOfInvalidParts } from "./invalid_parts.ts";

/*
 * Finds the losses in an element that limits its composite, such as a territory. In: the element
 * and its composite. Out: the losses, none if the element can be read and sent in full.
 */

/** Finds the losses in an element that limits its composite, or is part of one that does. */
export function lossesOf(element: Element, parent: Element): readonly Loss[] {
  const { name } = element;
  if (!isPartOf(name, parent.name)) return lossOfPlace(element, parent);
  if (!isComposite(name)) return lossOfValue(element);
  const period = PERIODS[name];
  if (period && !hasLimitingRole(element, period)) return NO_LOSSES;
  const losses = lossesOfParts(element, parent);
  if (losses.length > 0) return losses;
  if (name === "Territory") return lossOfContradiction(element);
  return period ? lossOfPeriod(element) : NO_LOSSES;
}

/**
 * Finds the loss of an element that its composite cannot have. A known one without a text says
 * nothing, an unknown one may be a flag. Elements of ONIX 2.1 have a warning of their own.
 */
function lossOfPlace(element: Element, parent: Element): readonly Loss[] {
  const { name } = element;
  if (!hasText(element) && (knownTag(name) || nameInOnix21(name))) return NO_LOSSES;
  const isOfOnix21 = nameInOnix21(name) !== undefined ||
    compositeSince21(parent.name, name) !== undefined;
  return [isOfOnix21 ? { element } : lossOfUnknown(element, parent, likelyLimit(name, parent))];
}

/**
 * Finds the parts that limit a composite and are lost, or why it is invalid without its lost parts.
 * A part that only adds something, such as a note, counts in the second case alone.
 */
function lossesOfParts(element: Element, parent: Element): readonly Loss[] {
  const { name, children } = element;
  const losses: Loss[] = [];
  const ofAdditions: Loss[] = [];
  const left: Element[] = [];
  for (const each of children) {
    const own = lossesOf(each, element);
    (adds(each.name, name) ? ofAdditions : losses).push(...own);
    if (own.length === 0 && hasText(each)) left.push(each);
  }
  if (losses.length > 0) return losses;
  const invalid = invalidPartsIn(element, parent, left);
  if (!invalid) return NO_LOSSES;
  return ofAdditions.length > 0 ? ofAdditions : [lossOfInvalidParts(element, left, invalid)];
}

/** By composite, the function that finds the limiting element with a similar name. */
const SPELLERS = new Map<string, ReturnType<typeof speller>>();

/** Finds the loss of an unknown element whose name is similar to one that limits the composite. */
export function lossOfMisspelt(element: Element, parent: Element): readonly Loss[] {
  const { name } = element;
  if (knownTag(name) || nameInOnix21(name)) return NO_LOSSES;
  if (!isComposite(parent.name) || !hasText(element)) return NO_LOSSES;
  const likely = likelyLimit(name, parent);
  return likely === undefined ? NO_LOSSES : [lossOfUnknown(element, parent, likely)];
}

/** The element with a similar name that limits the composite. */
function likelyLimit(name: string, parent: Element): string | undefined {
  return SPELLERS.getOrInsertComputed(
    parent.name,
    (parent) => speller(childNames(parent).filter((each) => limits(each, parent))),
  )(name);
}

function lossOfUnknown(element: Element, parent: Element, likely?: string): Loss {
  const message = `ONIX has no such element in ${parent.name}${didYouMean(likely)}`;
  return { element, code: "unknown_element", message };
}
