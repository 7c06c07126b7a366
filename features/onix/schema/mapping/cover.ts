import { objectsIn } from "../../../../schema/objects.ts";
import { isFrontCover } from "../../../../schema/product.ts";
import {
  attributesAfter,
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  removeDependents,
  valueOf,
} from "../xml/element.ts";
import { type Codec, textOf } from "../codecs/codec.ts";
import { renumberIfNumbered } from "../codecs/sequence.ts";

/*
 * The URL of the cover: the first link of the first resource that is a front cover (List 158, 01)
 * and an image (List 159, 03).
 */

/** The cover in a record. A product without resources may still have a cover URL. */
export function cover(): Codec {
  const isFront = (each: Element) =>
    childValue(each, "ResourceContentType") === "01" &&
    childValue(each, "ResourceMode") === "03";
  const linksIn = (parent: Element) =>
    childrenOf(parent, "SupportingResource").filter(isFront)
      .flatMap((each) => childrenOf(each, "ResourceVersion"))
      .flatMap((version) => child(version, "ResourceLink") ?? [])
      .filter(valueOf);
  const versionOf = (parent: Element, link: Element) =>
    childrenOf(parent, "SupportingResource").flatMap(({ children }) => children)
      .find(({ children }) => children.includes(link));
  return {
    find: (parent) => linksIn(parent)[0],
    // It follows from the resources that a product can have.
    read: () => undefined,
    write(parent, now, before) {
      const url = textOf(now);
      const links = linksIn(parent);
      if (url === undefined || links.some((link) => valueOf(link) === url)) return;
      const changed = links.find((link) => valueOf(link) === before);
      if (changed) {
        changed.text = url;
        changed.attributes = attributesAfter(changed);
        removeDependents(versionOf(parent, changed)!, "ResourceLink");
        return;
      }
      // A link that was changed itself stays. Those of a record without a cover cannot be read.
      if (before !== undefined && links.length > 0) return;
      const added = element("SupportingResource", [
        element("ResourceContentType", "01"),
        element("ContentAudience", "00"),
        element("ResourceMode", "03"),
        element("ResourceVersion", [
          element("ResourceForm", "01"),
          element("ResourceLink", url),
        ]),
      ]);
      const front = parent.children.findIndex((each) =>
        each.name === "SupportingResource" && isFront(each)
      );
      parent.children.splice(front < 0 ? parent.children.length : front, 0, added);
      renumberIfNumbered(childrenOf(parent, "SupportingResource"));
    },
  };
}

/** The first link of the first front cover among a product's resources. */
export function coverOf(resources: unknown): unknown {
  return objectsIn(resources).filter(isFrontCover)
    .flatMap(({ resource_versions }) => objectsIn(resource_versions))
    .flatMap(({ resource_links }) => resource_links ?? [])[0];
}
