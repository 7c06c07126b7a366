import { codePoints } from "../values.ts";
import { isAt, type Step, walk } from "./mapping/path.ts";
import { Pointers, type Stop } from "./mapping/pointers.ts";
import { shownText } from "./mapping/messages.ts";
import type { Profile, Rule } from "./profiles.ts";
import { MAX_RECORD_MESSAGES } from "./report/message.ts";
import { dataElement, isAtMostOnce } from "./rules/facts.ts";
import { dateIn } from "./xml/dates.ts";
import { type Element, element, valueOf } from "./xml/element.ts";

/*
 * Whether a recipient will take a product. In: the recipient's rules, and the message that it
 * would be sent. Out: what breaks the rules, with the places where that can be mended.
 */

/** The message of a product, without what the service wrote because the schema demands it. */
export interface Judged {
  header: Element;
  record: Element;
  /** The full product, as `GET /products/{id}` shows it. */
  product: Readonly<Record<string, unknown>>;
}

/** What is missing or wrong. */
export interface Missing extends Pick<Rule, "rule" | "severity" | "message"> {
  /** Its path in reference names, such as `/Product/DescriptiveDetail/Language`. */
  path: string;
  /** Where it is in the JSON of the product or the organization. Null: JSON has no place for it. */
  pointer: string | null;
  /** The wrong value. Null for what is missing. */
  value: string | null;
}

export interface Readiness {
  /** Whether no required rule is broken. */
  ready: boolean;
  /** How many of the rules that apply hold, in whole percent. */
  score: number;
  /** At most 100, in the order of the rules. */
  missing: Missing[];
}

/** The elements from the message to an element. */
type Trail = readonly Element[];

/** The place of what is missing or wrong: an element, and the steps below it that are missing. */
interface Breach {
  trail: Trail;
  rest: readonly Step[];
}

/** What the message of a product lacks for a recipient. */
export function judge(
  { rules }: Profile,
  { header, record, product }: Judged,
): Readiness {
  const message = element("", [header, record]);
  const pointers = new Pointers(product);
  const missing: Missing[] = [];
  let ready = true;
  let applied = 0;
  let held = 0;
  for (const rule of rules) {
    const breaches = breachesOf(rule, [message]);
    if (!breaches) continue;
    applied++;
    if (breaches.length === 0) held++;
    else if (rule.severity === "required") ready = false;
    const room = MAX_RECORD_MESSAGES - missing.length;
    missing.push(...breaches.slice(0, room).map((breach) => missingOf(rule, breach, pointers)));
  }
  const score = applied === 0 ? 100 : Math.floor(100 * held / applied);
  return { ready, score, missing };
}

/** What breaks a rule, with the places where that can be mended. */
function missingOf(
  { rule, severity, message }: Rule,
  { trail, rest }: Breach,
  pointers: Pointers,
): Missing {
  const way: Stop[] = [
    ...trail.slice(1).map((element) => ({ name: element.name, codes: [], element })),
    ...rest,
  ];
  return {
    rule,
    severity,
    path: pathOfBreach(trail, rest),
    pointer: pointers.pointerTo(way),
    value: rest.length > 0 ? null : shownText(trail.at(-1)),
    message,
  };
}

/** The path of a place, with positions of what is repeated. What is missing has the next one. */
function pathOfBreach(trail: Trail, rest: readonly Step[]): string {
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

/** What breaks a rule, or undefined if there is nothing to which it applies. */
function breachesOf(rule: Rule, message: Trail): Breach[] | undefined {
  const { each, where } = rule;
  const composites = each ? each.flatMap((way) => trailsAt(message, way)) : [message];
  const verdicts = composites.flatMap((composite) => {
    const isMeant = !where ||
      where.some((way) => trailsAt(composite, way).length);
    const verdict = isMeant ? breachesIn(rule, composite) : undefined;
    return verdict ? [verdict] : [];
  });
  return verdicts.length > 0 ? verdicts.flat() : undefined;
}

/** What breaks a rule in one composite, or undefined if it does not apply there. */
function breachesIn(rule: Rule, composite: Trail): Breach[] | undefined {
  const found = rule.path.flatMap((way) => trailsAt(composite, way));
  const { only, at_most, characters } = rule;
  if (only || at_most !== undefined || characters !== undefined) {
    return found.length > 0 ? breachesOfLimits(rule, found) : undefined;
  }
  const breach = breachOfDemand(rule, composite, found);
  return breach ? [breach] : [];
}

/**
 * What is there and must not be: of several the ones after `at_most`, or each one that is too long
 * or has another code. A rule has one of these limits.
 */
function breachesOfLimits({ only, at_most, characters }: Rule, found: readonly Trail[]): Breach[] {
  return found.slice(at_most ?? 0)
    .filter((trail) =>
      !(only && hasOneOf(trail, only)) &&
      !(characters && codePoints(valueOfTrail(trail)) <= characters)
    )
    .map((trail) => ({ trail, rest: [] }));
}

/** What must be there and is not, or has another code than one of those. */
function breachOfDemand(
  { path, one_of }: Rule,
  composite: Trail,
  found: readonly Trail[],
): Breach | undefined {
  const holds = (trail: Trail) => one_of ? hasOneOf(trail, one_of) : !isWrongDate(trail);
  if (found.some(holds)) return;
  const [wrong] = found;
  if (!wrong) {
    const { trail, rest } = walk(composite.at(-1)!, path[0]!);
    return { trail: [...composite, ...trail.slice(1)], rest };
  }
  // Where there can be another one, the right one is missing.
  const start = composite.length;
  const i = one_of ? lastRepeatable(wrong, start) : 0;
  return i > 0
    ? { trail: wrong.slice(0, i), rest: path[0]!.slice(i - start) }
    : { trail: wrong, rest: [] };
}

/** What is at these steps below an element. */
function trailsAt(above: Trail, steps: readonly Step[]): Trail[] {
  let found = [above];
  for (const step of steps) {
    const next: Trail[] = [];
    for (const trail of found) {
      for (const each of trail.at(-1)!.children) {
        if (isAt(step, each)) next.push([...trail, each]);
      }
    }
    found = next;
  }
  return found;
}

/**
 * The index of the last composite on a trail, from `start` on, that can have another beside
 * it, or else of the data element. 0: none can.
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

/** Whether an element is a date of no form, which goes out as it came. */
function isWrongDate(trail: Trail): boolean {
  if (trail.at(-1)!.name !== "Date") return false;
  const read = dateIn(trail.at(-2)!);
  return !!read && "fault" in read && read.fault === "invalid_date";
}
