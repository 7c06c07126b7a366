/* The reference of a product without a record: its id, as a URN (RFC 9562, 4). */

const OWN_REFERENCE = /^urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** The reference of the product with this id. */
export function ownReference(id: string): string {
  return `urn:uuid:${id}`;
}

/** The id of the product that has this reference, if it is of that form. */
export function ownId(reference: string): string | undefined {
  return OWN_REFERENCE.exec(reference)?.[1]?.toLowerCase();
}
