import { objectsIn } from "../../objects.ts";
import { child, childrenOf, childValue, type Element, element, valueOf } from "../xml/element.ts";
import { type Codec, textOf } from "./codec.ts";

/*
 * The URL of the cover, which is a link of a resource: the first link of the first front
 * cover (List 158, 01) that is an image (List 159, 03).
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
        if (valueOf(link) === before) link.text = url;
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
    },
  };
}

/** The same link of a product. */
export function coverOf(resources: unknown): unknown {
  const covers = objectsIn(resources).filter((resource) =>
    resource.resource_content_type === "01" && resource.resource_mode === "03"
  );
  return covers.flatMap(({ resource_versions }) => objectsIn(resource_versions))
    .flatMap(({ resource_links }) => resource_links ?? [])[0];
}
