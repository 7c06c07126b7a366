// @ts-ignore: the packages of deno.json beside this file, which the service is not installed with
import { chromium } from "playwright-core";

/*
 * Uses the reference page like a person with a telephone: enters a key, reloads the
 * page, searches the navigation, creates a product and lists it. Prints the results as JSON.
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
await tab.getByLabel("API key", { exact: true }).fill(key);
await tab.getByRole("button", { name: "Use" }).click();
widths.push(await width());
await tab.reload();
widths.push(await width());

const create = await find("create product", "createProduct");
await create.locator("textarea").fill(JSON.stringify({ title }));
const created = await execute(create);

const list = await find("list products", "listProducts");
await list.getByLabel("search", { exact: true }).fill(title);
const listed = await execute(list);
const samples = await samplesOf(list);

widths.push(await width());
const showsKey = (await tab.content()).includes(key);
const night = await brightnessIn("dark");
const day = await brightnessIn("light");
await tab.getByRole("button", { name: "Forget" }).click();
const stored = await tab.evaluate("Object.keys(sessionStorage).length");
await browser.close();
console.log(JSON.stringify({
  created,
  listed,
  samples,
  widths,
  night,
  day,
  showsKey,
  stored,
  complaints,
  hosts: [...hosts],
}));

/** The width of the page. More than the screen's width means horizontal scrolling. */
async function width(): Promise<number> {
  await tab.locator(".opblock").first().waitFor();
  return await tab.evaluate("document.documentElement.scrollWidth");
}

/** The brightness (0 to 255) of the page, and of a field and its text in an operation. */
async function brightnessIn(colorScheme: "dark" | "light"): Promise<number[]> {
  await tab.emulateMedia({ colorScheme });
  const applied = colorScheme === "dark" ? ".dark-mode" : ":not(.dark-mode)";
  await tab.locator(`html${applied}`).waitFor({ state: "attached" });
  return await tab.evaluate(`
    [
      getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.querySelector(".opblock textarea")).backgroundColor,
      getComputedStyle(document.querySelector(".opblock textarea")).color,
    ].map((color) => Number(/\\d+/.exec(color)[0]))
  `);
}

/** Opens an operation by its entry in the navigation, which it finds by words. */
async function find(words: string, operation: string) {
  await tab.getByRole("searchbox").fill(words);
  await tab.getByRole("searchbox").press("Enter");
  const block = tab.locator(`#operations-Products-${operation}`);
  await block.getByRole("button", { name: "Execute" }).waitFor();
  return block;
}

/** The samples of an operation by language. */
async function samplesOf(block: Awaited<ReturnType<typeof find>>) {
  const samples: Record<string, string> = {};
  for (const language of ["curl", "TypeScript"]) {
    const sample = block.locator(".sample").first();
    await sample.getByRole("button", { name: language }).click();
    samples[language] = await sample.locator("pre:visible").innerText();
  }
  return samples;
}

async function execute(block: Awaited<ReturnType<typeof find>>) {
  const [response] = await Promise.all([
    tab.waitForResponse((response: { url(): string }) =>
      response.url().includes("/api/products")
    ),
    block.getByRole("button", { name: "Execute" }).click(),
  ]);
  // The text that the person sees.
  const shown = block.locator(
    ".live-responses-table .response .response-col_status",
  );
  return {
    url: response.url(),
    status: response.status(),
    shown: (await shown.innerText()).trim(),
    body: await response.json(),
  };
}
