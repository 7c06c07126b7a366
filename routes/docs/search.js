import { make } from "./make.js";
import { loadWords } from "./lists.js";

/* The search of the page: operations, fields, ONIX elements, codes and guides. */

/** The longest list of results. */
const MAX_FOUND = 40;

/**
 * Lets people search. An entry has its kind, its names, of which the first is shown, the
 * text that it is also found by, and its address.
 */
export function watchSearch(entries) {
  const search = document.getElementById("search");
  const panel = document.getElementById("results");
  const found = document.getElementById("found");
  const count = document.getElementById("count");
  let words;

  async function find() {
    const query = search.value.trim().toLowerCase();
    panel.hidden = query === "";
    if (query === "") return found.replaceChildren();
    words ??= await loadWords();
    if (query !== search.value.trim().toLowerCase()) return;
    const results = matching([...entries, ...codesOf(words)], query, words);
    count.textContent = results.length === 0
      ? "Nothing found"
      : results.length > MAX_FOUND
      ? `The first ${MAX_FOUND} of ${results.length}`
      : `${results.length} found`;
    found.replaceChildren(...results.slice(0, MAX_FOUND).map(itemOf));
  }

  function itemOf({ kind, names: [name], detail, href }) {
    return make(
      "li",
      {},
      make(
        "a",
        { href },
        make("span", {}, name, ...detail ? [make("small", {}, detail)] : []),
        make("span", { className: "kind" }, kind),
      ),
    );
  }

  search.addEventListener("input", find);
  search.addEventListener("focus", find);
  found.addEventListener("click", () => panel.hidden = true);
  panel.parentElement.addEventListener("focusout", ({ relatedTarget }) => {
    if (!panel.parentElement.contains(relatedTarget)) panel.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea")) return;
    event.preventDefault();
    search.focus();
  });
  search.addEventListener("keydown", async (event) => {
    if (event.key === "Escape") {
      search.value = "";
      await find();
    } else if (event.key === "Enter") {
      await find();
      found.querySelector("a")?.click();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      found.querySelector("a")?.focus();
    }
  });
  found.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const links = [...found.querySelectorAll("a")];
    const next = links.indexOf(document.activeElement) + step;
    (links[next] ?? (next < 0 ? search : links.at(-1))).focus();
  });
}

let codes;

/** The codes of all lists. */
function codesOf({ lists }) {
  codes ??= Object.entries(lists).flatMap(([number, { title, codes }]) =>
    Object.entries(codes).map(([code, label]) => ({
      kind: "code",
      names: [code, label],
      detail: `${label} · List ${number}`,
      text: title,
      href: `#lists/${number}/${code}`,
    }))
  );
  return codes;
}

/** The entries with every word of the query, the nearest first. */
function matching(entries, query, { otherWords }) {
  const meant = otherWords[query.replace(/[^a-z0-9]/g, "")] ?? [];
  const parts = query.split(/\s+/);
  return entries.map((entry) => [rankOf(entry, query, parts, meant), entry])
    .filter(([rank]) => rank < Infinity)
    .sort(([a], [b]) => a - b)
    .map(([, entry]) => entry);
}

/** Equal names first, then what else is called so, the beginnings of names, names, and texts. */
function rankOf({ kind, names, text = "" }, query, parts, meant) {
  const behind = kind === "code" ? 4 : 0;
  const lower = names.map((name) => name.toLowerCase());
  if (lower.includes(query)) return 0 + behind;
  if (names.some((name) => meant.includes(name))) return 1;
  if (lower.some((name) => name.startsWith(query))) return 2 + behind;
  const all = lower.join(" ");
  if (parts.every((part) => all.includes(part))) return 3 + behind;
  const whole = `${all} ${text.toLowerCase()}`;
  if (kind !== "code" && parts.every((part) => whole.includes(part))) return 6;
  return Infinity;
}
