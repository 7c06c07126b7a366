/** The reference page: Swagger UI over the description of the API. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Product Catalogue</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
<p id="note">Credentials entered under “Authorize” stay in this tab's session storage until you log out or close the tab.</p>
<div id="reference"></div>
<noscript>The reference needs JavaScript.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
`;

/** Makes Swagger UI fit narrow screens. */
export const STYLE = `body { margin: 0 }
#note { margin: 0; padding: 8px 20px; font: 14px sans-serif; color: #3b4151; background: #f0f0f0 }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 10px }
  .swagger-ui .info table, .swagger-ui table.parameters, .swagger-ui table.responses-table { display: block; overflow-x: auto }
  .swagger-ui table.parameters thead { display: none }
  .swagger-ui table.parameters td { display: block; width: auto; padding: 5px 0 }
  .swagger-ui .opblock-section-header { flex-wrap: wrap }
  .swagger-ui .response-col_links { display: none }
  .swagger-ui .info code { overflow-wrap: anywhere }
  .swagger-ui .opblock-tag { flex-wrap: wrap }
  .swagger-ui .opblock-tag small { flex-basis: 100%; padding: 0 }
}
`;

/** The script of the page. It disables Swagger UI's validator, which is on another host. */
export function startScript(prefix: string): string {
  return `const STORED = "catalogue authorization";

/** Swagger UI would keep credentials in the local storage, for every tab and without end. */
const keepInTab = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        persistAuthorizationIfNeeded: (_, system) => () =>
          sessionStorage.setItem(STORED, JSON.stringify(system.authSelectors.authorized())),
      },
    },
  },
});

const ui = SwaggerUIBundle({
  url: ${JSON.stringify(`${prefix}/openapi.json`)},
  domNode: document.getElementById("reference"),
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 0,
  validatorUrl: null,
  plugins: [keepInTab],
  onComplete() {
    const authorized = sessionStorage.getItem(STORED);
    if (authorized) ui.authActions.restoreAuthorization({ authorized: JSON.parse(authorized) });
  },
  // Behind a proxy, the scheme in the description may differ from the page's.
  requestInterceptor(request) {
    request.url = request.url.replace(/^https?:\\/\\/[^/]+/, location.origin);
    return request;
  },
});

document.addEventListener("click", ({ target }) => {
  if (!target.closest(".authorize, .authorization__btn")) return;
  setTimeout(() => document.querySelector(".auth-container input")?.focus());
});
`;
}
