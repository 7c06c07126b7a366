import { watchCredentials } from "./credentials.js";
import { showNavigation } from "./navigation.js";
import { showOperations } from "./operations.js";
import { tabbed } from "./samples.js";

/* The reference page: the guides are in page.html, the operations come from the OpenAPI document. */

const { prefix } = document.documentElement.dataset;
const baseUrl = location.origin + prefix;

/** Swagger UI has dark colours for this class alone. */
function followColorScheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () =>
    document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", apply);
  apply();
}

followColorScheme();
for (const element of document.querySelectorAll(".base-url")) {
  element.textContent = baseUrl;
}
for (const sample of document.querySelectorAll(".sample")) tabbed(sample);
const credentials = watchCredentials();
const response = await fetch(`${prefix}/openapi.json`);
const description = await response.json();
const open = showOperations(description, { credentials });
showNavigation(description, open);
