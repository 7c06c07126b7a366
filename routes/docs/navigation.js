/** A viewport with room for the navigation beside the text. The style sheet has the same width. */
const WIDE = matchMedia("(min-width: 60rem)");

/** The groups that begin open, so that the guides are in sight. */
const OPEN = 2;

/** Lists the operations by tag in the navigation, and lets people search it. */
export function showNavigation({ tags, paths }, open) {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).filter(([, operation]) => operation.operationId)
      .map(([method, operation]) => ({ method, path, ...operation }))
  );
  const groups = tags.map(({ name }) =>
    groupOf(name, all.filter(({ tags }) => tags.includes(name)), open)
  );
  for (const group of groups.slice(0, OPEN)) group.open = true;
  document.getElementById("operations-contents").replaceChildren(...groups);
  watchWidth();
  watchSearch();
}

/** A tag with its operations. */
function groupOf(name, operations, open) {
  const group = document.createElement("details");
  const title = document.createElement("summary");
  title.textContent = name;
  const list = document.createElement("ul");
  list.append(...operations.map((operation) => itemOf(name, operation, open)));
  group.append(title, list);
  return group;
}

function itemOf(tag, { method, path, operationId, summary }, open) {
  const link = document.createElement("a");
  link.href = `#/${encodeURIComponent(tag)}/${operationId}`;
  link.dataset.words = `${method} ${path} ${operationId}`.toLowerCase();
  const badge = document.createElement("span");
  badge.className = `method ${method}`;
  badge.textContent = method.toUpperCase();
  link.append(summary, " ", badge);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    history.pushState(null, "", link.href);
    open(tag, operationId);
    if (!WIDE.matches) document.getElementById("contents").open = false;
  });
  const item = document.createElement("li");
  item.append(link);
  return item;
}

/** The contents are open beside the text, and closed above it. */
function watchWidth() {
  const apply = () => document.getElementById("contents").open = WIDE.matches;
  WIDE.addEventListener("change", apply);
  apply();
}

/** Shows only the entries that contain each word: in their text, path or operation id. */
function watchSearch() {
  const search = document.getElementById("search");
  const contents = document.getElementById("contents");
  const groups = [...contents.querySelectorAll("details, section")];
  const wereOpen = new Map(groups.map((group) => [group, group.open]));

  function find() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isSearch = words.length > 0;
    for (const group of groups) {
      const items = [...group.querySelectorAll("li")];
      for (const item of items) {
        const link = item.firstElementChild;
        const text = `${link.textContent} ${link.dataset.words ?? ""}`
          .toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
      }
      group.hidden = items.every(({ hidden }) => hidden);
      group.open = isSearch || wereOpen.get(group);
    }
    document.getElementById("none").hidden = groups.some(({ hidden }) =>
      !hidden
    );
    contents.open = isSearch || WIDE.matches;
  }

  search.addEventListener("input", find);
  search.addEventListener("keydown", ({ key }) => {
    const first = contents.querySelector("li:not([hidden]) a");
    if (key === "Enter" && search.value.trim()) first?.click();
  });
}
