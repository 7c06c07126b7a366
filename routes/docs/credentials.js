const STORED = "catalogue credentials";

/** The header of each field. */
const HEADERS = {
  key: (value) => ["x-api-key", value],
  token: (value) => ["authorization", `Bearer ${value}`],
  organization: (value) => ["x-organization-id", value],
};

/**
 * Lets people enter credentials. They are kept in the tab's session storage, which other
 * tabs do not see. Returns the function that makes the headers with them.
 */
export function watchCredentials() {
  const form = document.getElementById("credentials");
  const kept = document.getElementById("kept");
  const fields = Object.keys(HEADERS).map((id) => document.getElementById(id));
  const stored = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
  for (const field of fields) field.value = stored[field.id] ?? "";
  form.querySelector("details").open = !!stored.token;

  function given() {
    return fields.map(({ id, value }) => [id, value.trim()])
      .filter(([, value]) => value);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem(STORED, JSON.stringify(Object.fromEntries(given())));
    kept.textContent = given().length > 0
      ? "In use. Kept in this tab's session storage until you press “Forget” or close the tab."
      : "Enter a key, or a token and an organization.";
  });
  form.addEventListener("reset", () => {
    sessionStorage.removeItem(STORED);
    kept.textContent = "Forgotten.";
  });
  return () =>
    Object.fromEntries(given().map(([id, value]) => HEADERS[id](value)));
}
