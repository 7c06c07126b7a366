import { composite } from "../rules/facts.ts";
import type { Group, Particle } from "../rules/models.ts";
import { RELEASES } from "../rules/releases.ts";
import type { Element } from "../xml/element.ts";

/*
 * Content models of composites. In: the children of a composite and its model. Out: whether they
 * match it (`matches`), or the same children in its order (`arrange`). `matches` is the fast way for
 * the many composites that are in order: `arrange` alone would take a quarter more time.
 *
 * The model of `Extent` is `ExtentType ExtentValue? ExtentValueRoman? ExtentUnit`. A unit before the
 * value does not match, and `arrange` moves it behind.
 */

/** Makes a placeholder for a required element that the children lack, if there is one. */
type MakePlaceholder = (name: string) => Element | undefined;

/** Whether these parts of a composite match its model in at least one release. */
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

/** Whether the children match the model. */
export function matches(
  model: Particle,
  children: readonly Element[],
): boolean {
  return endOfMatch(model, children, 0) === children.length;
}

/**
 * Returns the index after the children from `i` on that match the particle, or -1. In all models of
 * ONIX the next child decides, so that nothing is tried twice.
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

/** The children of a composite while they are arranged. */
interface Arrangement {
  /** The children by name. */
  readonly given: ReadonlyMap<string, readonly Element[]>;
  readonly make: MakePlaceholder;
  /** The number of arranged children, by name and in all. */
  taken: Map<string, number>;
  count: number;
  /** The arranged children in the order of the model, as ranges of `given`, and the elements that were made. */
  ordered: ([name: string, from: number, to: number] | Element)[];
}

/**
 * Arranges as many children as possible in the order of the model, and adds placeholders for
 * required elements. Returns undefined if one of these is missing and has no placeholder.
 */
export function arrange(
  model: Particle,
  children: readonly Element[],
  make: MakePlaceholder,
): Element[] | undefined {
  const given = Map.groupBy(children, ({ name }) => name);
  const arrangement: Arrangement = {
    given,
    make,
    taken: new Map(),
    count: 0,
    ordered: [],
  };
  return arrangeParticle(model, arrangement) ? elementsOf(arrangement) : undefined;
}

function elementsOf({ ordered, given }: Arrangement): Element[] {
  return ordered.flatMap((one) =>
    Array.isArray(one) ? given.get(one[0])!.slice(one[1], one[2]) : [one]
  );
}

/** Arranges as many children as the particle takes. Returns whether it is complete. */
function arrangeParticle(particle: Particle, arrangement: Arrangement): boolean {
  const { min, max } = particle;
  if (particle.kind === "element") {
    const { name } = particle;
    const { taken, ordered } = arrangement;
    const from = taken.get(name) ?? 0;
    const to = from + Math.min(max, left(name, arrangement));
    taken.set(name, to);
    arrangement.count += to - from;
    if (to > from) ordered.push([name, from, to]);
    if (to - from >= min) return true;
    const made = arrangement.make(name);
    if (made) ordered.push(made);
    return made !== undefined;
  }
  for (let times = 0; times < max; times++) {
    let hasOwn = false;
    for (const name of particle.names) hasOwn ||= left(name, arrangement) > 0;
    if (!hasOwn && times >= min) break;
    const tried = copyOf(arrangement);
    if (!arrangeOnce(particle, tried)) return times >= min;
    if (tried.count === arrangement.count && times >= min) break;
    Object.assign(arrangement, tried);
  }
  return true;
}

/** Returns the number of children with this name that are left. */
function left(name: string, { given, taken }: Arrangement): number {
  return (given.get(name)?.length ?? 0) - (taken.get(name) ?? 0);
}

function arrangeOnce(
  { kind, of }: Group,
  arrangement: Arrangement,
): boolean {
  if (kind === "sequence") {
    return of.every((particle) => arrangeParticle(particle, arrangement));
  }
  let best: Arrangement | undefined;
  for (const particle of of) {
    const tried = copyOf(arrangement);
    if (!arrangeParticle(particle, tried)) continue;
    if (!best || scoreOf(tried) > scoreOf(best)) best = tried;
  }
  if (best) Object.assign(arrangement, best);
  return best !== undefined;
}

function copyOf(arrangement: Arrangement): Arrangement {
  const { taken, ordered } = arrangement;
  return { ...arrangement, taken: new Map(taken), ordered: [...ordered] };
}

/**
 * Returns the number of arranged children, less two for each element that was made: an element of
 * the sender is worth more than a placeholder.
 */
function scoreOf({ ordered, count }: Arrangement): number {
  const made = ordered.filter((one) => !Array.isArray(one)).length;
  return count - 2 * made;
}
