import { child, childrenOf, childValue, type Element, element } from "../xml/element.ts";

/*
 * Prepares a record for reading and storing: adds the defaults of its header, and removes passwords
 * from URLs.
 */

/**
 * The record as it is stored: with the defaults of its header, without passwords in URLs.
 * `headerPaths` are the paths of the defaults in the header.
 */
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
    switch (each.name) {
      case "DescriptiveDetail":
        return withLanguage(each, language);
      case "Price":
        return withPriceDefaults(each, type, currency);
      default:
        return withoutCredentials(each);
    }
  });
  return { record, headerPaths };
}

/** Adds the language of the text to the block, if it has none. */
function withLanguage(descriptive: Element, language: Element | undefined): Element {
  const isKnown = childrenOf(descriptive, "Language").some((each) =>
    childValue(each, "LanguageRole") === "01"
  );
  if (!language || isKnown) return descriptive;
  return withMore(descriptive, [
    element("Language", [element("LanguageRole", "01"), language]),
  ]);
}

/** Adds the type of a price, and the currency of its amount, if it has none. */
function withPriceDefaults(
  price: Element,
  type: Element | undefined,
  currency: Element | undefined,
): Element {
  const isPriced = child(price, "PriceAmount") !== undefined;
  return withMore(price, [
    ...type && !child(price, "PriceType") ? [type] : [],
    ...currency && isPriced && !child(price, "CurrencyCode") ? [currency] : [],
  ]);
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

function withoutCredentials(each: Element): Element {
  const { text } = each;
  const hasCredentials = text.includes("@") && text.search(CREDENTIALS) >= 0;
  return hasCredentials ? { ...each, text: text.replace(CREDENTIALS, "$1") } : each;
}
