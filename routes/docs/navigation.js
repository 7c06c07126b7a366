import { make } from "./make.js";
import { openList } from "./lists.js";

/** A viewport with room for the navigation beside the text. The style sheet has the same width. */
const WIDE = matchMedia("(min-width: 60rem)");

/** The groups that begin open, so that the guides are in sight. */
const OPEN = 2;

/** All operations of the document with their methods and paths. */
export function operationsIn({ paths }) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).filter(([, operation]) => operation.operationId)
      .map(([method, operation]) => ({ method, path, ...operation }))
  );
}

/** The address of an operation. */
export function addressOf({ tags: [tag], operationId }) {
  return `#/${encodeURIComponent(tag)}/${operationId}`;
}

/** Lists the operations by tag, and the guides by their headings, in the navigation. */
export function showNavigation({ tags }, operations, { go }) {
  const groups = tags.map(({ name }) =>
    make(
      "details",
      {},
      make("summary", {}, name),
      make(
        "ul",
        {},
        ...operations.filter(({ tags }) => tags.includes(name))
          .map((operation) => itemOf(operation, go)),
      ),
    )
  );
  for (const group of groups.slice(0, OPEN)) group.open = true;
  document.getElementById("operations-contents").replaceChildren(...groups);
  document.getElementById("guides-contents").replaceChildren(
    ...guides().map(({ id, textContent }) =>
      make("li", {}, make("a", { href: `#${id}` }, textContent))
    ),
  );
  const apply = () => document.getElementById("contents").open = WIDE.matches;
  WIDE.addEventListener("change", apply);
  apply();
}

/** The headings of the guides. */
export function guides() {
  return [...document.querySelectorAll("main section > h3")];
}

function itemOf(operation, go) {
  const { method, summary } = operation;
  const badge = make(
    "span",
    { className: `method ${method}` },
    method.toUpperCase(),
  );
  return make("li", {}, link(addressOf(operation), go, summary, " ", badge));
}

/** A link to an address of the page, which `go` opens. */
export function link(href, go, ...children) {
  const element = make("a", { href }, ...children);
  element.addEventListener("click", (event) => {
    event.preventDefault();
    go(href);
  });
  return element;
}

/**
 * Opens what an address names: an operation, a field, a list, a code or a guide. Returns the
 * function that goes there and keeps the address in the history.
 */
export function watchAddress(openOperation) {
  async function open() {
    const address = decodeURIComponent(location.hash.slice(1));
    if (!WIDE.matches && address) {
      document.getElementById("contents").open = false;
    }
    if (address.startsWith("/")) {
      const [, tag, operationId] = address.split("/");
      if (operationId) openOperation(tag, operationId);
      return;
    }
    const [kind, number] = address.split("/");
    if (kind === "lists" && number) await openList(number);
    show(document.getElementById(address));
  }

  addEventListener("popstate", open);
  addEventListener("hashchange", open);
  if (location.hash) open();
  return (href) => {
    history.pushState(null, "", href);
    open();
  };
}

/** Unfolds what the element is in, and moves there. */
function show(element) {
  if (!element) return;
  for (
    let around = element;
    around;
    around = around.parentElement?.closest("details")
  ) {
    if (around.matches("details")) around.open = true;
  }
  element.scrollIntoView();
  element.focus({ preventScroll: true });
}
