import { child, childrenOf, childValue, type Element, element } from "../xml/element.ts";

/*
 * A record as it is read and stored: the defaults of its header are written into it, and URLs
 * lose their passwords.
 */

/** The record as it is stored. `headerPaths` are the paths of the defaults in the header. */
export function withDefaults(
  product: Element,
  header: Element,
): { record: Element; headerPaths: ReadonlyMap<Element, string> } {
  const headerPaths = new Map(
    header.children.map((each) => [each, `/Header/${each.name}`]),
  );
  const defaultOf = (name: string, to: string) => {
    const value = childValue(header, name);
    if (value === undefined) return;
    const made = element(to, value);
    headerPaths.set(made, `/Header/${name}`);
    return made;
  };
  const language = defaultOf("DefaultLanguageOfText", "LanguageCode");
  const type = defaultOf("DefaultPriceType", "PriceType");
  const currency = defaultOf("DefaultCurrencyCode", "CurrencyCode");
  const record = changedTree(product, (each) => {
    if (each.name === "DescriptiveDetail" && language) {
      const isKnown = childrenOf(each, "Language").some((one) =>
        childValue(one, "LanguageRole") === "01"
      );
      return isKnown ? each : withMore(each, [
        element("Language", [element("LanguageRole", "01"), language]),
      ]);
    }
    if (each.name === "Price" && (type || currency)) {
      const isPriced = child(each, "PriceAmount") !== undefined;
      return withMore(each, [
        ...type && !child(each, "PriceType") ? [type] : [],
        ...currency && isPriced && !child(each, "CurrencyCode") ? [currency] : [],
      ]);
    }
    return hasCredentials(each) ? { ...each, text: each.text.replace(CREDENTIALS, "$1") } : each;
  });
  return { record, headerPaths };
}

function withMore(each: Element, more: Element[]): Element {
  return more.length > 0 ? { ...each, children: [...each.children, ...more] } : each;
}

/** The tree after a change of each element. Parts that do not change are shared. */
function changedTree(
  each: Element,
  change: (each: Element) => Element,
): Element {
  let children = each.children;
  children.forEach((child, i) => {
    const changed = changedTree(child, change);
    if (changed === child) return;
    if (children === each.children) children = [...children];
    children[i] = changed;
  });
  return change(children === each.children ? each : { ...each, children });
}

/** The user and password of a URL: all to the last `@` before its path (URL Standard, 4.4). */
const CREDENTIALS = /\b((?:https?|ftps?|sftp):\/\/)[^\s\/?#"'<>]*@/gi;

function hasCredentials({ text }: Element): boolean {
  return text.includes("@") && text.search(CREDENTIALS) >= 0;
}
