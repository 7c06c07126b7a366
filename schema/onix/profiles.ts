import * as v from "valibot";
import { type Step, stepsOf } from "./mapping/path.ts";
import { Pointers } from "./mapping/pointers.ts";
import { RELEASES } from "./rules/releases.ts";

/*
 * What recipients ask of a book: their public rules, one file a recipient in `profiles/`. A
 * new recipient is a new file. Its name is that of the profile.
 */

const Text = v.pipe(v.string(), v.nonEmpty());

/** A path in the mapping's language, below the message or a composite, or several of which one is enough. */
const Paths = v.pipe(
  v.union([Text, v.array(Text)]),
  v.transform((paths) => [paths].flat().map((path) => stepsOf(path.replace(/^\//, "")))),
);

const Codes = v.pipe(v.array(Text), v.minLength(1));

/**
 * A rule. At least one `path` is there; with `one_of`, it has one of these codes. Or, of those
 * that are there, each has one of the codes of `only`, or there are `at_most` so many, or each
 * has at most so many `characters`.
 */
const RuleFile = v.strictObject({
  /** The composites in which it holds, each by itself. Without it, it holds in the message. */
  each: v.optional(Paths),
  path: Paths,
  /** It holds only where one of these is there. */
  where: v.optional(Paths),
  one_of: v.optional(Codes),
  only: v.optional(Codes),
  at_most: v.optional(v.number()),
  characters: v.optional(v.number()),
  /** The page or the part of the page that says so, if the profile has several. */
  source: v.optional(Text),
  message: Text,
});

const Rules = v.record(v.pipe(v.string(), v.regex(/^[a-z_]+$/)), RuleFile);

const ProfileFile = v.strictObject({
  title: Text,
  release: v.picklist(RELEASES),
  /** The address of the recipient's page, and the day on which it was read. */
  source: v.pipe(v.string(), v.url()),
  as_of: v.pipe(v.string(), v.isoDate()),
  required: Rules,
  recommended: Rules,
});

export interface Rule extends v.InferOutput<typeof RuleFile> {
  rule: string;
  /** Whether the recipient may refuse a book that breaks it. */
  severity: "required" | "recommended";
}

export interface Profile
  extends Omit<v.InferOutput<typeof ProfileFile>, "required" | "recommended"> {
  name: string;
  /** The rules, those that are required first. */
  rules: readonly Rule[];
}

/** Reads the profile of a file. Throws if that has anything else than rules. */
export function parseProfile(name: string, file: unknown): Profile {
  const { required, recommended, ...profile } = v.parse(ProfileFile, file);
  const rulesOf = (severity: Rule["severity"], rules: typeof required) =>
    Object.entries(rules).map(([rule, rest]): Rule => ({ rule, severity, ...rest }));
  const rules = [
    ...rulesOf("required", required),
    ...rulesOf("recommended", recommended),
  ];
  return { name, ...profile, rules };
}

const FOLDER = new URL("profiles/", import.meta.url);

let known: ReadonlyMap<string, Profile> | undefined;

/** The profiles by name. The first call reads them: an import must need no permission. */
export function profiles(): ReadonlyMap<string, Profile> {
  return known ??= new Map(
    Array.from(Deno.readDirSync(FOLDER), ({ name }) => name).sort()
      .map((file) => {
        const name = file.replace(".json", "");
        const text = Deno.readTextFileSync(new URL(file, FOLDER));
        return [name, parseProfile(name, JSON.parse(text))];
      }),
  );
}

/** The names of the profiles, for messages. */
export function profileNames(): string {
  return [...profiles().keys()].join(", ");
}

/** The profile as clients see it, with the number of its rules. */
export function summaryOf({ rules, ...profile }: Profile) {
  return { ...profile, rules: rules.length };
}

/** The profile as clients see it, with its rules. */
export function detailsOf({ rules, ...profile }: Profile) {
  const pointers = new Pointers();
  return {
    ...profile,
    rules: rules.map(({ rule, severity, each = [[]], path, message }) => {
      const way = [...each[0]!, ...path[0]!];
      const pointer = pointers.pointerTo(way);
      return { rule, severity, path: pathOfSteps(way), pointer, message };
    }),
  };
}

/** The path of these steps, with their codes. */
function pathOfSteps(steps: readonly Step[]): string {
  return steps.map(({ name, codes }) => {
    const conditions = codes.map((code) => code.join("=")).join();
    return `/${name}${conditions && `[${conditions}]`}`;
  }).join("");
}
