import type { Release } from "./releases.ts";

/*
 * Parses the language of `composites.txt`. In: a line, such as `A B? (C | D)* ! B[@language]`. Out:
 * the content model of a composite, and its uniqueness constraints.
 */

/** The content that a model allows at one place. `max` is `Infinity` for any number. */
export type Particle =
  | { kind: "element"; name: string; min: number; max: number }
  | Group;

/** Particles of which each follows the one before, or of which there is one. */
export interface Group {
  kind: "sequence" | "choice";
  of: Particle[];
  min: number;
  max: number;
  /** The names of all elements in it. */
  names: ReadonlySet<string>;
}

/** No two elements at one of the paths have the same values of these fields. */
export interface Unique {
  /** The names at each path, of which there are one or two, such as `EpubLicense/EpubLicenseName`. */
  paths: string[][];
  /** Names of children, `.` for the value, `@language` for the attribute. */
  fields: string[];
  /** The fields that may be missing. Elements without one of the others are not compared. */
  optional: ReadonlySet<string>;
}

export interface Composite {
  model: Particle;
  unique: Unique[];
}

/** The composite of a line, as the release has it. `groups` are the models in braces. */
export function readComposite(
  line: string,
  groups: ReadonlyMap<string, string>,
  release: Release,
): Composite {
  const [model = "", constraints = ""] = line.split(" ! ");
  const unique = constraints.split(" ").flatMap((constraint): Unique[] => {
    const [, paths, fields, only] = /^([^[]+)\[([^\]]+)\](?:@(\S+))?$/.exec(constraint) ?? [];
    if (!paths || !fields || only && only !== release) return [];
    const names = fields.split(",");
    return [{
      paths: paths.split("|").map((path) => path.split("/")),
      fields: names.map(withoutMark),
      optional: new Set(names.filter((name) => name.endsWith("?")).map(withoutMark)),
    }];
  });
  return { model: readModel(withGroups(model, groups), release), unique };
}

function withoutMark(name: string): string {
  return name.replace("?", "");
}

/** Replaces the names in braces by their models, which may contain further names. */
function withGroups(model: string, groups: ReadonlyMap<string, string>): string {
  return model.replace(/\{([A-Z]\w+)\}/g, (_, name) => withGroups(groups.get(name)!, groups));
}

const TOKEN = /[()|?*+]|\w+[?*+]?(?:@[\d.]+)?/g;

const ELEMENT = /^(\w+)([?*+])?(?:@(\S+))?$/;

const TIMES: Readonly<Record<string, [min: number, max: number]>> = {
  "?": [0, 1],
  "*": [0, Infinity],
  "+": [1, Infinity],
};

const ONCE = [1, 1] as const;

function readModel(model: string, release: Release): Particle {
  const tokens = model.match(TOKEN)!;
  let i = 0;

  function alternatives(): Particle {
    const options = [sequence()];
    while (tokens[i] === "|") {
      i++;
      options.push(sequence());
    }
    return options.length === 1 ? options[0]! : together("choice", options);
  }

  function sequence(): Particle {
    const items: Particle[] = [];
    while (i < tokens.length && tokens[i] !== "|" && tokens[i] !== ")") {
      const token = tokens[i++]!;
      if (token === "(") items.push(inParentheses());
      else {
        const [, name = "", times = "", only] = ELEMENT.exec(token)!;
        if (only && only !== release) continue;
        const [min, max] = TIMES[times] ?? ONCE;
        items.push({ kind: "element", name, min, max });
      }
    }
    return items.length === 1 ? items[0]! : together("sequence", items);
  }

  /** Parses up to the next `)`, and the repetition after it. */
  function inParentheses(): Particle {
    const inner = alternatives();
    i++;
    const times = TIMES[tokens[i] ?? ""];
    if (!times) return inner;
    i++;
    const [min, max] = times;
    return { ...together("sequence", [inner]), min, max };
  }

  return alternatives();
}

function together(kind: "sequence" | "choice", of: Particle[]): Particle {
  const names = new Set<string>();
  for (const particle of of) {
    if (particle.kind === "element") names.add(particle.name);
    else particle.names.forEach((name) => names.add(name));
  }
  return { kind, of, min: 1, max: 1, names };
}

/** The elements of which none of the models takes a second one. */
export function singlesIn(models: readonly Particle[]): ReadonlySet<string> {
  const most = new Map<string, number>();
  for (const model of models) keepMost(most, mostIn(model));
  return new Set([...most.keys()].filter((name) => most.get(name) === 1));
}

/** Whether elements without this one can match the model. */
export function mayLack(particle: Particle, name: string): boolean {
  if (particle.min === 0) return true;
  if (particle.kind === "element") return particle.name !== name;
  const lack = (one: Particle) => mayLack(one, name);
  return particle.kind === "choice" ? particle.of.some(lack) : particle.of.every(lack);
}

/** How often elements can occur in a particle, by name. */
function mostIn(particle: Particle): Map<string, number> {
  const { max } = particle;
  if (particle.kind === "element") return new Map([[particle.name, max]]);
  const most = new Map<string, number>();
  for (const each of particle.of) {
    const inner = mostIn(each);
    if (particle.kind === "choice") keepMost(most, inner);
    else inner.forEach((n, name) => most.set(name, n + (most.get(name) ?? 0)));
  }
  return new Map([...most].map(([name, n]) => [name, n * max]));
}

function keepMost(most: Map<string, number>, other: Map<string, number>) {
  other.forEach((n, name) => most.set(name, Math.max(n, most.get(name) ?? 0)));
}
