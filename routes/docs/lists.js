import { make } from "./make.js";

/* The ONIX code lists of the fields, folded. Their labels are loaded when they are needed. */

let loaded;

/** The words of the search, and the code lists by number. */
export function loadWords() {
  loaded ??= fetch("/docs/search.json").then((response) => response.json());
  return loaded;
}

/** Lists the code lists with these numbers in the element. */
export async function showLists(element, numbers) {
  const { lists } = await loadWords();
  element.replaceChildren(
    ...numbers.filter((number) => lists[number]).map((number) => {
      const { title, codes } = lists[number];
      const list = make(
        "details",
        { id: `lists/${number}` },
        make("summary", {}, `List ${number}: ${title}`),
      );
      list.addEventListener("toggle", () => fill(list, codes), { once: true });
      return list;
    }),
  );
}

/** Unfolds a list, so that its codes have rows. */
export async function openList(number) {
  const { lists } = await loadWords();
  const list = document.getElementById(`lists/${number}`);
  if (!list) return;
  fill(list, lists[number].codes);
  list.open = true;
}

/** Shows the codes of a list with their labels. */
function fill(list, codes) {
  if (list.querySelector("table")) return;
  const rows = Object.entries(codes).map(([code, label]) =>
    make(
      "tr",
      { id: `${list.id}/${code}`, tabIndex: -1 },
      make("th", { scope: "row" }, make("code", {}, code)),
      make("td", {}, label),
    )
  );
  list.append(
    make("table", { className: "codes" }, make("tbody", {}, ...rows)),
  );
}
