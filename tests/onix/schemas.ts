import type { Release, Tags } from "../../features/onix/schema/rules/releases.ts";

/*
 * EDItEUR's schemas, and xmllint, which validates messages against them. The schemas may not be
 * part of this repository.
 */

const XMLLINT = "/usr/bin/xmllint";

const XSD = folder("ONIX_XSD", "../../../shared/onix/xsd/");

/** Whether there are schemas here, but nothing that validates against them. */
export const LACKS_XMLLINT = XSD !== undefined && !isFile(XMLLINT);

/** Whether messages can be validated here. */
export const HAS_SCHEMAS = XSD !== undefined && !LACKS_XMLLINT;

/** The elements of 3.1 revision 3, by either tag, and those that have a textscript since then. */
const ADDED = "TextSource|textsource|SubjectDescription|x591|" +
  "PublisherNameInverted|x592|ImprintNameInverted|x593";
const SCRIPTED = "Affiliation|b046|ProfessionalPosition|b045|BiographicalNote|b044|Text|d104|" +
  "SubjectHeadingText|b070|PublisherName|b081|CorporateName|b047|CorporateNameInverted|x443";

/** The inverted names of a publisher or imprint that has no other, from the start of its element. */
const INVERTED_ALONE =
  /(?:<\/(?:PublishingRole|b291)>|<(?:Imprint|imprint)>)\s*(?:<(PublisherNameInverted|ImprintNameInverted|x592|x593)\b[^>]*>[^<]*<\/\1>\s*)+/g;

/**
 * The message without what 3.1 revision 3 has added, which the schemas that are here may not know.
 */
function inRevision2(text: string): string {
  const within = (names: string) => `<(${names})(?:\\s[^>]*)?>[^]*?</\\1>\\s*`;
  return text
    .replaceAll(
      INVERTED_ALONE,
      (all) =>
        all.replaceAll("NameInverted", "Name").replaceAll("x592", "b081").replaceAll(
          "x593",
          "b079",
        ),
    )
    .replaceAll(new RegExp(within(ADDED), "g"), "")
    .replaceAll(/(<(?:NameAsSubject|nameassubject)>\s*)<(SequenceNumber|b034)>.*?<\/\2>\s*/g, "$1")
    .replaceAll(/(<(Affiliation|b046)\b[^]*?<\/\2>\s*)(?:<\2\b[^]*?<\/\2>\s*)+/g, "$1")
    .replaceAll(
      new RegExp(`(<(?:${SCRIPTED}))(\\s[^>]*)>`, "g"),
      (all, start, attributes) =>
        attributes.includes("textscript")
          ? `${start}${attributes.replaceAll(/\s(?:textscript|language)="[^"]*"/g, "")}>`
          : all,
    );
}

/** What xmllint says against the message, if it is invalid. */
export async function faultsOf(text: string, release: Release, tags: Tags): Promise<string> {
  const schema = new URL(`ONIX_BookProduct_${release}_${tags}.xsd`, XSD).pathname;
  const xmllint = new Deno.Command(XMLLINT, {
    args: ["--noout", "--schema", schema, "-"],
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const writer = xmllint.stdin.getWriter();
  const known = release === "3.1" ? inRevision2(text) : text;
  await writer.write(new TextEncoder().encode(known));
  await writer.close();
  const { success, stderr } = await xmllint.output();
  return success ? "" : new TextDecoder().decode(stderr).slice(0, 2000);
}

/** The folder that a variable names, or else the one beside this repository, if there is one. */
export function folder(variable: string, beside: string): URL | undefined {
  const given = Deno.env.get(variable);
  const url = given
    ? new URL(`file://${given.replace(/\/?$/, "/")}`)
    : new URL(beside, import.meta.url);
  try {
    return Deno.statSync(url).isDirectory ? url : undefined;
  } catch {
    return undefined;
  }
}

export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
