import { make } from "./make.js";
import { openList } from "./lists.js";

/*
 * The contents, and the screen that the address names: the page shows one at a time, the
 * start, a guide, the operations of one group or a part of the reference.
 */

/** A viewport with room for the contents beside the text. The style sheet has the same width. */
const WIDE = matchMedia("(min-width: 60rem)");

const HOME = "home";

const contents = document.getElementById("contents");

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

/** Lists the operations in the contents by group. */
export function showNavigation({ tags }, operations) {
  document.getElementById("operations-contents").replaceChildren(
    ...tags.map(({ name }) =>
      make(
        "details",
        {},
        make("summary", {}, name),
        make(
          "ul",
          {},
          ...operations.filter(({ tags }) => tags.includes(name)).map(itemOf),
        ),
      )
    ),
  );
  const apply = () => contents.open = WIDE.matches;
  WIDE.addEventListener("change", apply);
  apply();
}

function itemOf(operation) {
  const { method, summary } = operation;
  const badge = make(
    "span",
    { className: `method ${method}` },
    method.toUpperCase(),
  );
  return make(
    "li",
    {},
    make("a", { href: addressOf(operation) }, summary, " ", badge),
  );
}

/** The headings of the guides. */
export function guides() {
  return [...document.querySelectorAll(".guide > h2")];
}

/** Shows what the address names, now and whenever it changes. */
export function watchAddress(openOperation) {
  async function open() {
    const address = decodeURIComponent(location.hash.slice(1)) || HOME;
    if (!WIDE.matches && address !== HOME) contents.open = false;
    if (address.startsWith("/")) {
      const [, tag, operationId] = address.split("/");
      showScreen(document.getElementById("operations"), tag);
      openOperation(tag, operationId);
    } else {
      const [kind, number] = address.split("/");
      if (kind === "lists" && number) await openList(number);
      show(document.getElementById(address) ?? document.getElementById(HOME));
    }
    markCurrent();
  }

  addEventListener("hashchange", open);
  open();
}

/** Shows the screen of an element, unfolds what the element is in, and moves there. */
function show(element) {
  const screen = element.closest(".screen");
  if (!screen) return;
  const heading = screen.querySelector("h1, h2");
  showScreen(screen, heading.textContent);
  for (
    let around = element;
    around;
    around = around.parentElement?.closest("details")
  ) {
    if (around.matches("details")) around.open = true;
  }
  if (element === heading) scrollTo(0, 0);
  else element.scrollIntoView();
  // A page that was opened without an address begins at its top.
  if (location.hash) element.focus({ preventScroll: true });
}

function showScreen(screen, title) {
  for (const other of document.querySelectorAll(".screen")) {
    other.hidden = other !== screen;
  }
  document.title = `${title} · Product catalogue`;
}

/** Marks the entry of the address in the contents, in sight, and leads to the guides before and after. */
export function markCurrent() {
  const [screen] = decodeURIComponent(location.hash).split("/", 1);
  const links = [...contents.querySelectorAll("a")];
  const current = links.find(({ hash }) => hash === location.hash) ??
    links.find(({ hash }) => hash === screen);
  for (const link of links) link.removeAttribute("aria-current");
  current?.setAttribute("aria-current", "page");
  const group = current?.closest("#operations-contents > details");
  for (const other of contents.querySelectorAll("details")) {
    other.open = other === group;
  }
  if (WIDE.matches) current?.scrollIntoView({ block: "nearest" });

  const order = [...document.querySelectorAll("#guides-contents a")];
  const place = order.indexOf(current);
  const turn = (link, word) =>
    link ? [make("a", { href: link.hash, rel: word }, link.textContent)] : [];
  document.querySelector(".turn").replaceChildren(
    ...place < 0 ? [] : [...turn(order[place - 1], "prev"), ...turn(order[place + 1], "next")],
  );
}
