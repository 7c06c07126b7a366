const STORED = "catalogue credentials";

/** The header of each field. */
const HEADERS = {
  key: (value) => ["x-api-key", value],
  token: (value) => ["authorization", `Bearer ${value}`],
  organization: (value) => ["x-organization-id", value],
};

/**
 * Lets people enter credentials. They are kept in the tab's session storage, which other
 * tabs do not see, once the service has accepted them. Returns the function that makes the headers with them.
 */
export function watchCredentials(prefix) {
  const form = document.getElementById("credentials");
  const kept = document.getElementById("kept");
  const fields = Object.keys(HEADERS).map((id) => document.getElementById(id));
  const stored = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
  for (const field of fields) field.value = stored[field.id] ?? "";
  form.querySelector("details").open = !!stored.token;
  mark();

  /** Says beside the search whether there are credentials in use. */
  function mark() {
    const isUsed = sessionStorage.getItem(STORED) !== null;
    form.parentElement.firstElementChild.textContent = isUsed ? "Key in use" : "Your key";
  }

  function given() {
    return fields.map(({ id, value }) => [id, value.trim()])
      .filter(([, value]) => value);
  }

  function headers() {
    return Object.fromEntries(
      given().map(([id, value]) => HEADERS[id](value)),
    );
  }

  /** Why the service refuses these headers, if it does. */
  async function refusalOf(headers) {
    try {
      const response = await fetch(`${prefix}/products?limit=1`, { headers });
      return response.ok ? undefined : (await response.json()).error.message;
    } catch (error) {
      return error.message;
    }
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    sessionStorage.removeItem(STORED);
    mark();
    if (given().length === 0) {
      kept.textContent = "Enter a key, or a token and an organization.";
      return;
    }
    kept.textContent = "Trying …";
    const refusal = await refusalOf(headers());
    if (refusal) {
      kept.textContent = `Not in use: ${refusal}.`;
      return;
    }
    sessionStorage.setItem(STORED, JSON.stringify(Object.fromEntries(given())));
    mark();
    kept.textContent =
      "In use: the service accepts it. Kept in this tab's session storage until you press “Forget” or close the tab.";
  });
  form.addEventListener("reset", () => {
    sessionStorage.removeItem(STORED);
    mark();
    kept.textContent = "Forgotten.";
  });
  return headers;
}
