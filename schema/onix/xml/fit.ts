import { composite } from "../rules/facts.ts";
import type { Group, Particle } from "../rules/models.ts";
import { RELEASES } from "../rules/releases.ts";
import type { Element } from "./element.ts";

/*
 * Children and the content model of their composite: whether they match it, and which of
 * them have a place in it. `matches` is the fast way for the many that are in order:
 * `fitAll` alone would say the same, and reading would take a quarter more time.
 */

/** Makes an element that the model demands and the children lack, if something stands for it. */
type Make = (name: string) => Element | undefined;

/** Whether these parts of a composite are what its model demands in one release at least. */
export function matchesSomeRelease(
  { name }: Element,
  parts: readonly Element[],
  parent?: string,
): boolean {
  return RELEASES.some((release) => {
    const model = composite(release, name, parent)?.model;
    return model !== undefined && matches(model, parts);
  });
}

/** Whether the children are what the model demands, in its order. */
export function matches(
  model: Particle,
  children: readonly Element[],
): boolean {
  return endOfMatch(model, children, 0) === children.length;
}

/**
 * The index after the children from `i` on that match the particle, or -1. The models are
 * such that the next child decides: there is nothing to try again.
 */
function endOfMatch(
  particle: Particle,
  children: readonly Element[],
  i: number,
): number {
  const { min, max } = particle;
  if (particle.kind === "element") {
    const { name } = particle;
    let end = i;
    while (end - i < max && children[end]?.name === name) end++;
    return end - i < min ? -1 : end;
  }
  let at = i;
  for (let times = 0; times < max; times++) {
    const next = children[at];
    const isNext = next !== undefined && particle.names.has(next.name);
    if (!isNext && times >= min) break;
    const end = matchOnce(particle, children, at);
    if (end < 0) return times < min ? -1 : at;
    if (end === at) break;
    at = end;
  }
  return at;
}

function matchOnce(
  { kind, of }: Group,
  children: readonly Element[],
  i: number,
): number {
  if (kind === "sequence") {
    let at = i;
    for (const particle of of) {
      at = endOfMatch(particle, children, at);
      if (at < 0) return -1;
    }
    return at;
  }
  let empty = -1;
  for (const particle of of) {
    const end = endOfMatch(particle, children, i);
    if (end > i) return end;
    if (end === i) empty = i;
  }
  return empty;
}

/** The children of a composite on their way to their places, by name. */
interface Fitting {
  readonly given: ReadonlyMap<string, readonly Element[]>;
  readonly make: Make;
  /** The number of placed children, by name and in all. */
  taken: Map<string, number>;
  count: number;
  /** The placed children in the order of the model, as ranges of `given`, and the elements that were made. */
  ordered: ([name: string, from: number, to: number] | Element)[];
}

/**
 * As many children as possible in the order of the model, with the elements that it demands.
 * Undefined if one of these can neither be found nor made.
 */
export function fitAll(
  model: Particle,
  children: readonly Element[],
  make: Make,
): Element[] | undefined {
  const given = Map.groupBy(children, ({ name }) => name);
  const fitting: Fitting = {
    given,
    make,
    taken: new Map(),
    count: 0,
    ordered: [],
  };
  return fit(model, fitting) ? elementsOf(fitting) : undefined;
}

function elementsOf({ ordered, given }: Fitting): Element[] {
  return ordered.flatMap((one) =>
    Array.isArray(one) ? given.get(one[0])!.slice(one[1], one[2]) : [one]
  );
}

/** Places as many children as the particle takes. Returns whether it has all that it needs. */
function fit(particle: Particle, fitting: Fitting): boolean {
  const { min, max } = particle;
  if (particle.kind === "element") {
    const { name } = particle;
    const { taken, ordered } = fitting;
    const from = taken.get(name) ?? 0;
    const to = from + Math.min(max, left(name, fitting));
    taken.set(name, to);
    fitting.count += to - from;
    if (to > from) ordered.push([name, from, to]);
    if (to - from >= min) return true;
    const made = fitting.make(name);
    if (made) ordered.push(made);
    return made !== undefined;
  }
  for (let times = 0; times < max; times++) {
    let hasOwn = false;
    for (const name of particle.names) hasOwn ||= left(name, fitting) > 0;
    if (!hasOwn && times >= min) break;
    const tried = copyOfFitting(fitting);
    if (!fitOnce(particle, tried)) return times >= min;
    if (tried.count === fitting.count && times >= min) break;
    Object.assign(fitting, tried);
  }
  return true;
}

/** The number of children with this name that have no place yet. */
function left(name: string, { given, taken }: Fitting): number {
  return (given.get(name)?.length ?? 0) - (taken.get(name) ?? 0);
}

function fitOnce(
  { kind, of }: Group,
  fitting: Fitting,
): boolean {
  if (kind === "sequence") {
    return of.every((particle) => fit(particle, fitting));
  }
  let best: Fitting | undefined;
  for (const particle of of) {
    const tried = copyOfFitting(fitting);
    if (!fit(particle, tried)) continue;
    if (!best || scoreOf(tried) > scoreOf(best)) best = tried;
  }
  if (best) Object.assign(fitting, best);
  return best !== undefined;
}

function copyOfFitting(fitting: Fitting): Fitting {
  const { taken, ordered } = fitting;
  return { ...fitting, taken: new Map(taken), ordered: [...ordered] };
}

/**
 * The number of placed children. Each element that was made counts against two of them: one
 * that was sent is worth more than one that stands in for what is missing.
 */
function scoreOf({ ordered, count }: Fitting): number {
  const made = ordered.filter((one) => !Array.isArray(one)).length;
  return count - 2 * made;
}
