import { watchCredentials } from "./credentials.js";
import { showFields } from "./fields.js";
import { showLists } from "./lists.js";
import {
  addressOf,
  guides,
  markCurrent,
  operationsIn,
  showNavigation,
  watchAddress,
} from "./navigation.js";
import { showOperations } from "./operations.js";
import { tabbed } from "./samples.js";
import { watchSearch } from "./search.js";

/* The reference page: the service renders the guides, the fields and the operations come from the OpenAPI document. */

const { prefix } = document.documentElement.dataset;
const baseUrl = location.origin + prefix;

/** Swagger UI has dark colours for this class alone. */
function followColorScheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", apply);
  apply();
}

followColorScheme();
for (const element of document.querySelectorAll(".base-url, .sample pre")) {
  element.textContent = element.textContent.replace(
    /http:\/\/127\.0\.0\.1:8000(?:\/\w+)?/,
    baseUrl,
  );
}
for (const sample of document.querySelectorAll(".sample")) tabbed(sample);
const credentials = watchCredentials(prefix);
const response = await fetch(`${prefix}/openapi.json`);
const description = await response.json();
const fields = showFields(
  document.getElementById("product-fields"),
  description,
);
const lists = new Set(fields.map(({ list }) => list).filter(Boolean));
showLists(
  document.getElementById("code-lists"),
  [...lists].sort((a, b) => a - b),
);
const operations = operationsIn(description);
showNavigation(description, operations);
watchAddress(
  await showOperations(description, { credentials, onOpened: markCurrent }),
);
watchSearch([
  ...fields.map(({ id, path, element, sentence }) => ({
    kind: "field",
    names: [path.join("."), path.at(-1), ...element ? [element] : []],
    detail: element,
    text: sentence,
    href: `#${id}`,
  })),
  ...operations.map((operation) => ({
    kind: operation.method.toUpperCase(),
    names: [operation.summary, operation.operationId, operation.path],
    detail: operation.path,
    text: parametersOf(operation),
    href: addressOf(operation),
  })),
  ...guides().map((heading) => ({
    kind: "guide",
    names: [heading.textContent],
    text: heading.parentElement.textContent,
    href: `#${heading.id}`,
  })),
  ...[...document.querySelectorAll("#errors tbody tr")].map((row) => ({
    kind: "error",
    names: [row.cells[0].textContent],
    detail: row.cells[1].textContent,
    text: row.cells[2].textContent,
    href: `#${row.id}`,
  })),
]);

/** The names of the parameters of an operation. */
function parametersOf({ parameters = [] }) {
  return parameters.map(({ name, $ref = "" }) =>
    name ?? description.components.parameters[$ref.split("/").at(-1)]?.name
  ).join(" ");
}
