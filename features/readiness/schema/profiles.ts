import * as v from "valibot";
import { type Segment, segmentsOf } from "../../onix/schema/codecs/path.ts";
import { Pointers } from "../../onix/schema/doors/pointers.ts";
import { RELEASES } from "../../onix/schema/rules/releases.ts";

/*
 * Reads the public rules of recipients, one file per recipient in `profiles/`. The name of a file
 * is that of the profile. For example, the rule `{ "path": "DescriptiveDetail/TitleDetail" }`
 * requires a title.
 */

const Text = v.pipe(v.string(), v.nonEmpty());

/** A path in the mapping's language, below the message or a composite, or several of which one is enough. */
const Paths = v.pipe(
  v.union([Text, v.array(Text)]),
  v.transform((paths) => [paths].flat().map((path) => segmentsOf(path.replace(/^\//, "")))),
);

const Codes = v.pipe(v.array(Text), v.minLength(1));

/**
 * A rule on a path. By default, at least one element must be there; with `one_of`, with one of
 * these codes. With `only`, each must have one of these codes. With `at_most`, there may be only so
 * many, and with `characters`, each may have only so many characters.
 */
const RuleFile = v.strictObject({
  /** The composites to which it applies, one by one. Without it, it applies to the message. */
  each: v.optional(Paths),
  path: Paths,
  /** It applies only where one of these elements is present. */
  where: v.optional(Paths),
  one_of: v.optional(Codes),
  only: v.optional(Codes),
  at_most: v.optional(v.number()),
  characters: v.optional(v.number()),
  /** The page, or the part of the page, with this rule, if the profile has several. */
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

/** Reads the profile in a file. Throws if the file contains anything but rules. */
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

/**
 * Returns the profiles by name. The first call reads them, because an import of this module must
 * need no permission.
 */
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
      const segments = [...each[0]!, ...path[0]!];
      const pointer = pointers.pointerTo(segments);
      return { rule, severity, path: pathOfSegments(segments), pointer, message };
    }),
  };
}

/** The path of these segments, with their codes. */
function pathOfSegments(segments: readonly Segment[]): string {
  return segments.map(({ name, codes }) => {
    const conditions = codes.map((code) => code.join("=")).join();
    return `/${name}${conditions && `[${conditions}]`}`;
  }).join("");
}
