import {
  child,
  childrenOf,
  childValue,
  copyOf,
  type Element,
  hasSameContent,
  removeChildren,
  replaceChildren,
  setChild,
  valueOf,
} from "../xml/element.ts";
import { elementOfPerson } from "../mapping/person.ts";

/*
 * Updates references to contributors. A promotional event names a contributor of the book by
 * number, role and identifier (`ContributorReference`). In: a record before its fields are written.
 * Out: the same references afterwards, with the new number, or removed together with the
 * contributor.
 *
 * For example, an event refers to contributor 2, and a user removes contributor 1. The event then
 * refers to number 1. If the name of the contributor changes, the event loses its statement, which
 * has the former one.
 */

/** A reference, the event that has it, and the contributor that it names, with their name. */
interface Reference {
  reference: Element;
  event: Element;
  contributor: Element | undefined;
  name: string | undefined;
}

/** Finds the references of a record and the contributors that they name. */
export function contributorReferencesIn(record: Element): Reference[] {
  const events = childrenOf(record, "PromotionDetail")
    .flatMap((block) => childrenOf(block, "PromotionalEvent"));
  const contributors = contributorsIn(record);
  return events.flatMap((event) =>
    childrenOf(event, "ContributorReference").map((reference) => {
      const contributor = contributors.find((each) => isNamedBy(reference, each));
      return { reference, event, contributor, name: nameOf(contributor) };
    })
  );
}

/** Updates references to contributors that were renumbered or changed. Removes those of contributors that are gone. */
export function updateContributorReferences(
  references: readonly Reference[],
  record: Element,
): void {
  const contributors = new Set(contributorsIn(record));
  for (const { reference, event, contributor, name } of references) {
    if (name !== nameOf(contributor)) removeChildren(event, "ContributorStatement");
    const isUpdated = contributor && contributors.has(contributor) &&
      nameAgain(reference, contributor);
    if (isUpdated) continue;
    // A number without a contributor could be the next one's.
    if (!contributor) removeChildren(reference, "SequenceNumber");
    else {
      replaceChildren(event, [reference], []);
      removeChildren(event, "ContributorStatement");
    }
  }
}

/** The name of a contributor, as it is spoken. */
function nameOf(contributor: Element | undefined): string | undefined {
  return valueOf(contributor && elementOfPerson(contributor, "name"));
}

function contributorsIn(record: Element): Element[] {
  return childrenOf(record, "DescriptiveDetail")
    .flatMap((block) => childrenOf(block, "Contributor"));
}

/** Whether a reference names a contributor: by its number, or without one by an identifier. */
function isNamedBy(reference: Element, contributor: Element): boolean {
  const number = childValue(reference, "SequenceNumber");
  return number !== undefined
    ? Number(number) === Number(childValue(contributor, "SequenceNumber"))
    : sharedOf("NameIdentifier", reference, contributor).length > 0;
}

/** Gives a reference the number, roles and identifiers of its contributor. Returns whether it still has an identifier. */
function nameAgain(reference: Element, contributor: Element): boolean {
  if (child(reference, "SequenceNumber")) {
    setChild(reference, "SequenceNumber", childValue(contributor, "SequenceNumber"));
  }
  for (const name of ["ContributorRole", "NameIdentifier"]) {
    const own = childrenOf(reference, name);
    const shared = sharedOf(name, reference, contributor);
    const wanted = shared.length > 0 ? shared : childrenOf(contributor, name).map(copyOf);
    replaceChildren(reference, own, wanted);
  }
  return child(reference, "NameIdentifier") !== undefined;
}

/** The children of a reference with this name that its contributor has, too. */
function sharedOf(name: string, reference: Element, contributor: Element): Element[] {
  const all = childrenOf(contributor, name);
  return childrenOf(reference, name).filter((own) => all.some((each) => hasSameContent(own, each)));
}
