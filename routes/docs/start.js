const STORED = "catalogue authorization";

/** Swagger UI would keep credentials in the local storage, for every tab and without end. */
const keepInTab = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        persistAuthorizationIfNeeded: (_, system) => () =>
          sessionStorage.setItem(
            STORED,
            JSON.stringify(system.authSelectors.authorized()),
          ),
      },
    },
  },
});

const ui = SwaggerUIBundle({
  url: document.currentScript.dataset.description,
  domNode: document.getElementById("reference"),
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 0,
  // The validator is on another host.
  validatorUrl: null,
  plugins: [keepInTab],
  onComplete() {
    const authorized = sessionStorage.getItem(STORED);
    if (authorized) {
      ui.authActions.restoreAuthorization({
        authorized: JSON.parse(authorized),
      });
    }
  },
});

document.addEventListener("click", ({ target }) => {
  if (!target.closest(".authorize, .authorization__btn")) return;
  setTimeout(() => document.querySelector(".auth-container input")?.focus());
});
