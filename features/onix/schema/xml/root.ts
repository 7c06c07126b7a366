import { RELEASES } from "../rules/releases.ts";

/*
 * Checks the start of a message. In: its DOCTYPE, or its root element. Out: the reason why the
 * service cannot read the message, if there is one.
 */

/** Why a message is not read. */
type Refusal = [code: string, message: string];

/** Why a message with this root is refused, if it is. */
export function refusalOfRoot(
  name: string,
  attributes: Record<string, string>,
): Refusal | undefined {
  if (name !== "ONIXMessage") {
    return ["not_onix", `Expected the root ONIXMessage or ONIXmessage, not ${excerpt(name)}`];
  }
  const release = attributes.release?.trim() || releaseOfNamespace(attributes);
  if (!release) {
    return [
      "unsupported_release",
      'The message does not say its release: add release="3.0" or release="3.1" to its root',
    ];
  }
  return /^3(?:\.|$)/.test(release) ? undefined : refusalOfRelease(release);
}

/**
 * Returns why a message with a DOCTYPE is refused. Messages of release 2.1 have one, so that is
 * reported first.
 */
export function refusalOfDoctype(text: string): Refusal {
  const release = RELEASE.exec(text)?.[1];
  return release && !/^3/.test(release)
    ? refusalOfRelease(release)
    : ["doctype", "A message must not have a DOCTYPE: remove it"];
}

function refusalOfRelease(release: string): Refusal {
  const expected = `Expected ONIX ${RELEASES.join(" or ")}, not ${excerpt(release)}`;
  return ["unsupported_release", expected];
}

/** The release in the address of a namespace or a DTD. */
const RELEASE = /\/onix\/(\d+(?:\.\d+)*)/;

/** The release in a namespace such as `http://ns.editeur.org/onix/3.0/reference`. */
function releaseOfNamespace(attributes: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(attributes)) {
    const release = RELEASE.exec(value)?.[1];
    if (release && /^xmlns(?::|$)/.test(name)) return release;
  }
}

function excerpt(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}
