import { objectsIn } from "../../../../schema/objects.ts";
import { isFrontCover } from "../../../../schema/product.ts";
import {
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
  const linkOf = (parent: Element) =>
    childrenOf(parent, "SupportingResource").filter(isFront)
      .flatMap((each) => childrenOf(each, "ResourceVersion"))
      .map((version) => child(version, "ResourceLink"))
      .find((link) => valueOf(link));
  const versionOf = (parent: Element, link: Element) =>
    childrenOf(parent, "SupportingResource").flatMap(({ children }) => children)
      .find(({ children }) => children.includes(link));
  return {
    find: linkOf,
    // It follows from the resources that a product can have.
    read: () => undefined,
    write(parent, now, before) {
      const url = textOf(now);
      const link = linkOf(parent);
      if (url === undefined) return;
      if (link) {
        // A link that was changed itself stays.
        if (valueOf(link) !== before || url === before) return;
        link.text = url;
        removeDependents(versionOf(parent, link)!, "ResourceLink");
        return;
      }
      parent.children.push(element("SupportingResource", [
        element("ResourceContentType", "01"),
        element("ContentAudience", "00"),
        element("ResourceMode", "03"),
        element("ResourceVersion", [
          element("ResourceForm", "01"),
          element("ResourceLink", url),
        ]),
      ]));
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
