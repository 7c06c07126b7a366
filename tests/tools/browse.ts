// @ts-ignore: the packages of deno.json beside this file, which the service is not installed with
import { chromium } from "playwright-core";

/*
 * Uses the reference page like a person with a telephone: enters a key, reloads the
 * page, creates a product and lists it. Prints the results as JSON.
 *
 *     browse.ts CHROMIUM PAGE KEY TITLE
 */

const [executablePath, page, key, title] = Deno.args as [
  string,
  string,
  string,
  string,
];
const browser = await chromium.launch({ executablePath, timeout: 60_000 });
const tab = await browser.newPage({ viewport: { width: 390, height: 844 } });

const complaints: string[] = [];
const hosts = new Set<string>();
// The page reports a violation of the Content-Security-Policy as such an error.
tab.on("console", (message: { type(): string; text(): string }) => {
  if (message.type() === "error") complaints.push(message.text());
});
tab.on("pageerror", (error: Error) => complaints.push(error.message));
tab.on("request", (request: { url(): string }) => {
  hosts.add(new URL(request.url()).origin);
});

await tab.goto(page);

const widths = [await width()];
await tab.getByRole("button", { name: "Authorize" }).click();
const form = tab.locator(".auth-container", { hasText: "x-api-key" });
const field = form.locator("input:focus");
await field.waitFor();
await tab.keyboard.type(key);
await form.getByRole("button", { name: "Apply credentials" }).click();
await tab.locator(".modal-ux").getByRole("button", { name: "Close" }).last()
  .click();
widths.push(await width());
await tab.reload();
await tab.locator("section.models h4 button").first().click();
widths.push(await width());

const create = await tryOut("createProduct");
await create.locator("textarea").fill(JSON.stringify({ title }));
const created = await execute(create);

const list = await tryOut("listProducts");
await list.locator("tr[data-param-name=search] input").fill(title);
const listed = await execute(list);

widths.push(await width());
await browser.close();
console.log(
  JSON.stringify({ created, listed, widths, complaints, hosts: [...hosts] }),
);

/** The width of the page. More than the screen's width means horizontal scrolling. */
async function width(): Promise<number> {
  await tab.locator(".opblock").first().waitFor();
  return await tab.evaluate("document.documentElement.scrollWidth");
}

async function tryOut(operation: string) {
  const block = tab.locator(`#operations-Products-${operation}`);
  await block.locator(".opblock-summary-control").click();
  await block.getByRole("button", { name: "Try it out" }).click();
  return block;
}

async function execute(block: Awaited<ReturnType<typeof tryOut>>) {
  const [response] = await Promise.all([
    tab.waitForResponse((response: { url(): string }) =>
      response.url().includes("/products")
    ),
    block.getByRole("button", { name: "Execute" }).click(),
  ]);
  // The text that the person sees.
  const shown = block.locator(
    ".live-responses-table .response .response-col_status",
  );
  return {
    status: response.status(),
    shown: (await shown.innerText()).trim(),
    body: await response.json(),
  };
}
