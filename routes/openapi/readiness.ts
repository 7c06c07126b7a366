import * as v from "valibot";
import { Count, described } from "../../schema/values.ts";

/* The schemas of readiness, and of the profiles of recipients. */

const RULE = {
  rule: described("The name of the rule in its profile.", v.string()),
  severity: described(
    "A recipient may refuse a book that breaks a `required` rule.",
    v.picklist(["required", "recommended"]),
  ),
  path: described(
    "The ONIX path of the missing or wrong element, with positions where a composite is repeated.",
    v.string(),
  ),
  pointer: described(
    "The place to correct: a JSON Pointer into the product, or, below `/organization`, into the organization. Null if JSON has none.",
    v.nullable(v.string()),
  ),
  message: described("What to do.", v.string()),
};

const PROFILE = {
  name: described("The name, for `profile`.", v.string()),
  title: described("The recipient.", v.string()),
  release: described("The release of ONIX that it takes.", v.string()),
  source: described("The page that states the rules.", v.string()),
  as_of: described("The day on which the page was read.", v.string()),
};

export const RecipientProfile = v.object({
  ...PROFILE,
  rules: described("The number of rules.", Count),
});

export const RecipientProfileRules = v.object({
  ...PROFILE,
  rules: described(
    "The rules, those that are required first.",
    v.array(v.object(RULE)),
  ),
});

/** What is missing or wrong. */
export const MissingForRecipient = v.object({
  ...RULE,
  value: described(
    "The wrong value. Null for what is missing.",
    v.nullable(v.string()),
  ),
});

const READINESS = {
  ready: described("Whether no required rule is broken.", v.boolean()),
  score: described(
    "How many of the rules that apply hold, in whole percent.",
    v.pipe(Count, v.maxValue(100)),
  ),
  missing: described(
    "What is missing or wrong, what is required first.",
    v.array(MissingForRecipient),
  ),
};

export const Readiness = v.object({
  profile: described("The name of the profile.", v.string()),
  ...READINESS,
});

export const ListedReadiness = v.object({
  id: described("The id of the product.", v.pipe(v.string(), v.uuid())),
  title: described("The title of the product.", v.string()),
  isbn13: described("The ISBN-13 of the product.", v.nullable(v.string())),
  product_code: described("The code of the product.", v.string()),
  ...READINESS,
});

export const ReadinessMeta = v.object({
  cursor: described(
    "The cursor of the next page. Null without products.",
    v.nullable(v.string()),
  ),
  more: described("Whether more products follow.", v.boolean()),
  checked: described("The products that the page looked at.", Count),
  ready: described("How many of them are ready.", Count),
});
