import { codePoints } from "../../../schema/values.ts";
import { isAtSegment, type Segment, walk } from "../../onix/schema/codecs/path.ts";
import { type ElementSegment, Pointers } from "../../onix/schema/doors/pointers.ts";
import { shownText } from "../../onix/schema/codecs/messages.ts";
import type { Profile, Rule } from "./profiles.ts";
import { MAX_RECORD_MESSAGES } from "../../onix/schema/report/message.ts";
import { dataElement, isAtMostOnce } from "../../onix/schema/rules/facts.ts";
import { dateIn } from "../../onix/schema/xml/dates.ts";
import { type Element, element, valueOf } from "../../onix/schema/xml/element.ts";

/*
 * Checks whether a recipient will accept a product. In: the recipient's rules, and the message that
 * it would get. Out: the violations, with the paths to correct.
 *
 * For example, a message without `TitleDetail` violates the rule that requires it, at
 * `/Product/DescriptiveDetail/TitleDetail`, which is `/title` in JSON.
 */

/** The message of a product, without placeholders that the service added only to satisfy the schema. */
export interface CheckedMessage {
  header: Element;
  record: Element;
  /** The full product, as `GET /products/{id}` shows it. */
  product: Readonly<Record<string, unknown>>;
}

/** A missing or wrong element, as responses show it. */
export interface Missing extends Pick<Rule, "rule" | "severity" | "message"> {
  /** Its path in reference names, such as `/Product/DescriptiveDetail/Language`. */
  path: string;
  /** Its JSON Pointer in the product or the organization. Null if JSON has no field for it. */
  pointer: string | null;
  /** The wrong value. Null if the element is missing. */
  value: string | null;
}

export interface Readiness {
  /** Whether no required rule is broken. */
  ready: boolean;
  /** The share of fulfilled rules among those that apply, in percent. */
  score: number;
  /** At most 100, in the order of the rules. */
  missing: Missing[];
}

/** The elements from the message to an element. */
type Trail = readonly Element[];

/** Where a rule is violated: an element, and the segments below it that are missing. */
interface Violation {
  trail: Trail;
  rest: readonly Segment[];
}

/** Checks the message of a product by the rules of a recipient. */
export function checkMessage(
  { rules }: Profile,
  { header, record, product }: CheckedMessage,
): Readiness {
  const message = element("", [header, record]);
  const pointers = new Pointers(product);
  const missing: Missing[] = [];
  let ready = true;
  let applied = 0;
  let fulfilled = 0;
  for (const rule of rules) {
    const violations = violationsOf(rule, [message]);
    if (!violations) continue;
    applied++;
    if (violations.length === 0) fulfilled++;
    else if (rule.severity === "required") ready = false;
    const room = MAX_RECORD_MESSAGES - missing.length;
    missing.push(
      ...violations.slice(0, room).map((violation) => missingOf(rule, violation, pointers)),
    );
  }
  const score = applied === 0 ? 100 : Math.floor(100 * fulfilled / applied);
  return { ready, score, missing };
}

/** Returns a violation as responses show it, with the paths to correct. */
function missingOf(
  { rule, severity, message }: Rule,
  { trail, rest }: Violation,
  pointers: Pointers,
): Missing {
  const segments: ElementSegment[] = [
    ...trail.slice(1).map((element) => ({ name: element.name, codes: [], element })),
    ...rest,
  ];
  return {
    rule,
    severity,
    path: pathOfViolation(trail, rest),
    pointer: pointers.pointerTo(segments),
    value: rest.length > 0 ? null : shownText(trail.at(-1)),
    message,
  };
}

/**
 * Returns the path of a violation, with the positions of repeated elements. A missing element has
 * the next position.
 */
function pathOfViolation(trail: Trail, rest: readonly Segment[]): string {
  const names = [...trail.slice(1), ...rest].map(({ name }, i) => {
    const others = trail[i]?.children.filter((each) => each.name === name) ??
      [];
    const element = trail[i + 1];
    const position = element ? others.indexOf(element) + 1 : others.length + 1;
    const isAlone = others.length === (element ? 1 : 0);
    return isAlone ? name : `${name}[${position}]`;
  });
  return `/${names.join("/")}`;
}

/** Returns the violations of a rule, or undefined if it applies to nothing. */
function violationsOf(rule: Rule, message: Trail): Violation[] | undefined {
  const { each, where } = rule;
  const composites = each ? each.flatMap((segments) => trailsAt(message, segments)) : [message];
  const results = composites.flatMap((composite) => {
    const applies = !where ||
      where.some((segments) => trailsAt(composite, segments).length);
    const result = applies ? violationsIn(rule, composite) : undefined;
    return result ? [result] : [];
  });
  return results.length > 0 ? results.flat() : undefined;
}

/** Returns the violations of a rule in one composite, or undefined if it does not apply there. */
function violationsIn(rule: Rule, composite: Trail): Violation[] | undefined {
  const found = rule.path.flatMap((segments) => trailsAt(composite, segments));
  const { only, at_most, characters } = rule;
  if (only || at_most !== undefined || characters !== undefined) {
    return found.length > 0 ? violationsOfLimits(rule, found) : undefined;
  }
  const violation = violationOfRequirement(rule, composite, found);
  return violation ? [violation] : [];
}

/**
 * Returns the elements beyond a limit: those after `at_most`, or each that is too long or has
 * another code. A rule has one of these limits.
 */
function violationsOfLimits(
  { only, at_most, characters }: Rule,
  found: readonly Trail[],
): Violation[] {
  return found.slice(at_most ?? 0)
    .filter((trail) =>
      !(only && hasOneOf(trail, only)) &&
      !(characters && codePoints(valueOfTrail(trail)) <= characters)
    )
    .map((trail) => ({ trail, rest: [] }));
}

/**
 * Returns the violation of a rule that requires an element: it is missing, or has none of the
 * codes.
 */
function violationOfRequirement(
  { path, one_of }: Rule,
  composite: Trail,
  found: readonly Trail[],
): Violation | undefined {
  const holds = (trail: Trail) => one_of ? hasOneOf(trail, one_of) : !isWrongDate(trail);
  if (found.some(holds)) return;
  const [wrong] = found;
  if (!wrong) {
    const { trail, rest } = walk(composite.at(-1)!, path[0]!);
    return { trail: [...composite, ...trail.slice(1)], rest };
  }
  // Where the element can be repeated, the right one is missing.
  const start = composite.length;
  const i = one_of ? lastRepeatable(wrong, start) : 0;
  return i > 0
    ? { trail: wrong.slice(0, i), rest: path[0]!.slice(i - start) }
    : { trail: wrong, rest: [] };
}

/** Finds the elements at these segments below an element. */
function trailsAt(above: Trail, segments: readonly Segment[]): Trail[] {
  let found = [above];
  for (const segment of segments) {
    const next: Trail[] = [];
    for (const trail of found) {
      for (const each of trail.at(-1)!.children) {
        if (isAtSegment(segment, each)) next.push([...trail, each]);
      }
    }
    found = next;
  }
  return found;
}

/**
 * Returns the index on a trail, from `start` on, of the last composite that can be repeated, or
 * else of the data element. 0 if there is none.
 */
function lastRepeatable(trail: Trail, start: number): number {
  const last = trail.length - 1;
  const isRepeatable = (i: number) =>
    trail[i - 1]!.name !== "" &&
    !isAtMostOnce(trail[i]!.name, trail[i - 1]!.name);
  for (let i = last - 1; i >= start; i--) if (isRepeatable(i)) return i;
  return isRepeatable(last) ? last : 0;
}

function valueOfTrail(trail: Trail): string {
  return valueOf(trail.at(-1)) ?? "";
}

/** Whether an element has one of these codes, perhaps among others. */
function hasOneOf(trail: Trail, codes: readonly string[]): boolean {
  const { name } = trail.at(-1)!;
  const value = valueOfTrail(trail);
  const all = dataElement(name)?.kind.endsWith("*") ? value.split(" ") : [value];
  return all.some((code) => codes.includes(code));
}

/** Whether an element is an invalid date, which is sent as it was received. */
function isWrongDate(trail: Trail): boolean {
  if (trail.at(-1)!.name !== "Date") return false;
  const read = dateIn(trail.at(-2)!);
  return !!read && "fault" in read && read.fault === "invalid_date";
}
