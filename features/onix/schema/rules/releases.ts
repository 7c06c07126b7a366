/** The releases of ONIX for Books that the service reads and writes. */
export const RELEASES = ["3.0", "3.1"] as const;

export type Release = typeof RELEASES[number];

/** The two forms of every element's name: `ProductIdentifier` and `productidentifier`, or `IDValue` and `b244`. */
export const TAGS = ["reference", "short"] as const;

export type Tags = typeof TAGS[number];

/** The form of a message. */
export interface MessageForm {
  release: Release;
  tags: Tags;
}
