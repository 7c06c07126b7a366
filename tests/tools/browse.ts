// @ts-ignore: the packages of deno.json beside this file, which the service is not installed with
import { chromium } from "playwright-core";
import { Buffer } from "node:buffer";

/*
 * Uses the reference page like a person with a telephone: enters a wrong key and a right
 * one, reloads the page, searches it, creates a product and lists it, follows a link to a
 * code list and the one to the content, opens the address of a field, and imports an ONIX
 * message and a sheet. Prints the results as JSON.
 *
 *     browse.ts CHROMIUM PAGE KEY TITLE ADDRESS…
 */

const [executablePath, page, key, title, ...addresses] = Deno.args as [
  string,
  string,
  string,
  string,
  ...string[],
];
/** How long the browser may take for anything. No test measures time: this only ends one that hangs. */
const LIMIT_MS = 240_000;

const browser = await chromium.launch({ executablePath, timeout: LIMIT_MS });
const tab = await browser.newPage({ viewport: { width: 390, height: 844 } });
tab.setDefaultTimeout(LIMIT_MS);

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
const tries = [await enter("cat_wrong", /^Not in use/)];
// The browser reports the refusal of the wrong key.
complaints.length = 0;
tries.push(await enter(key, /^In use/));
widths.push(await width());
await tab.reload();
widths.push(await width());

const create = await find("create product", "Products", "createProduct");
await create.locator("textarea").fill(JSON.stringify({ title }));
const created = await execute(create);

const list = await find("list products", "Products", "listProducts");
await list.getByLabel("search", { exact: true }).fill(title);
const listed = await execute(list);
const samples = await samplesOf(list);

widths.push(await width());
const night = await brightnessIn("dark");
const day = await brightnessIn("light");
const faintest = [await faintestIn("light"), await faintestIn("dark")];
const results: Record<string, string[]> = {};
for (
  const words of ["isbn", "price", "Subject", "cursor", "barcode", "hardback"]
) {
  results[words] = await resultsOf(words);
}
await tab.getByRole("searchbox").fill("retail_price");
await tab.locator("#found a").first().waitFor();
for (const key of ["ArrowDown", "Enter"]) await tab.keyboard.press(key);
const reached = [await focused()];
await tab.locator('a[href="#lists/81"]').first().click();
await tab.locator('[id="lists/81"][open]').waitFor();
await tab.locator(".skip").press("Enter");
await tab.locator("#content:focus").waitFor();
for (const address of addresses) {
  await tab.goto("about:blank");
  await tab.goto(`${page}#${address}`);
  // What is there instead after this time is compared. The page's policy forbids waitForFunction.
  const end = performance.now() + LIMIT_MS;
  while (await focused() !== address && performance.now() < end) {
    await tab.waitForTimeout(50);
  }
  reached.push(await focused());
}
widths.push(await width());
await tab.goto("about:blank");
await tab.goto(`${page}#/ONIX/importOnix`);
const imported = await send(
  blockOf("ONIX", "importOnix"),
  "catalogue.xml",
  "application/xml",
  '<ONIXMessage release="3.1"><Header/></ONIXMessage>',
);
const sheet = await send(
  await find("import a sheet", "Sheets", "importSheet"),
  "prices.csv",
  "text/csv",
  `title,isbn13\n${title},\n`,
);
const showsKey = (await tab.content()).includes(key);
await openAccess();
await tab.getByRole("button", { name: "Forget" }).click();
const stored = await tab.evaluate("Object.keys(sessionStorage).length");
await browser.close();
console.log(JSON.stringify({
  created,
  listed,
  samples,
  tries,
  faintest,
  results,
  reached,
  widths,
  night,
  day,
  imported,
  sheet,
  showsKey,
  stored,
  complaints,
  hosts: [...hosts],
}));

/** The width of the page. More than the screen's width means horizontal scrolling. */
async function width(): Promise<number> {
  await tab.locator("#operations-contents a").first().waitFor({
    state: "attached",
  });
  return await tab.evaluate("document.documentElement.scrollWidth");
}

/** Enters a key, and returns what the page says of it. */
async function enter(key: string, expected: RegExp): Promise<string> {
  await openAccess();
  await tab.getByLabel("API key", { exact: true }).fill(key);
  await tab.getByRole("button", { name: "Use" }).click();
  await tab.locator("#kept", { hasText: expected }).waitFor();
  return await tab.locator("#kept").innerText();
}

/** Opens the form for the key, if it is not. */
async function openAccess(): Promise<void> {
  if (await tab.locator("#access[open]").count() === 0) {
    await tab.locator("#access > summary").click();
  }
}

/** The names of the first results. */
async function resultsOf(words: string): Promise<string[]> {
  for (const text of ["", words]) await tab.getByRole("searchbox").fill(text);
  await tab.locator("#found a").first().waitFor();
  return await tab.locator("#found a span:first-child").evaluateAll(
    (names: { firstChild: { data: string } }[]) =>
      names.slice(0, 3).map(({ firstChild }) => firstChild.data),
  );
}

/** The id of the focused element in sight, or of the heading at the top. */
async function focused(): Promise<string> {
  return await tab.evaluate(`
    document.activeElement?.id ||
      document.getElementById(decodeURIComponent(location.hash.slice(1)))?.id
  `);
}

/** The smallest contrast of a text with what is behind it (WCAG 2.2, 1.4.3). */
async function faintestIn(colorScheme: "dark" | "light"): Promise<number> {
  await tab.emulateMedia({ colorScheme });
  // Colours change gradually.
  await tab.evaluate(
    "document.getAnimations().forEach((change) => change.finish())",
  );
  return await tab.evaluate(`(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const known = {};
    const channelsOf = (color) => {
      if (known[color]) return known[color];
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return known[color] = [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminanceOf = (channels) =>
      channels.slice(0, 3).map((value) => value / 255)
        .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
    const chain = (element) => element ? [element, ...chain(element.parentElement)] : [];
    const shown = [...document.querySelectorAll("body *")].filter((element) =>
      element.checkVisibility() &&
      (element.matches("input, textarea, select") ||
        [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim())));
    return Math.min(...shown.map((element) => {
      const around = chain(element).map((one) => getComputedStyle(one));
      const paper = around.map(({ backgroundColor }) => channelsOf(backgroundColor))
        .find(([, , , alpha]) => alpha > 0);
      const opacity = around.reduce((product, style) => product * style.opacity, 1);
      const ink = channelsOf(around[0].color)
        .map((value, i) => value * opacity + paper[i] * (1 - opacity));
      const [dark, bright] = [luminanceOf(ink), luminanceOf(paper)].sort((a, b) => a - b);
      return (bright + 0.05) / (dark + 0.05);
    }));
  })()`);
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

/** The operation on the page. */
function blockOf(tag: string, operation: string) {
  return tab.locator(`#operations-${tag}-${operation}`);
}

/** Opens an operation by its entry in the navigation, which it finds by words. */
async function find(words: string, tag: string, operation: string) {
  await tab.getByRole("searchbox").fill(words);
  await tab.getByRole("searchbox").press("Enter");
  const block = blockOf(tag, operation);
  await block.getByRole("button", { name: "Execute" }).waitFor();
  return block;
}

/** The samples of an operation by language. */
async function samplesOf(block: ReturnType<typeof blockOf>) {
  const samples: Record<string, string> = {};
  for (const language of ["curl", "TypeScript"]) {
    const sample = block.locator(".sample").first();
    await sample.getByRole("button", { name: language }).click();
    samples[language] = await sample.locator("pre:visible").innerText();
  }
  return samples;
}

/** Sends a file to an operation. Returns the status that the page shows, and the samples. */
async function send(
  block: ReturnType<typeof blockOf>,
  name: string,
  mimeType: string,
  text: string,
) {
  await block.locator("input[type=file]").setInputFiles({
    name,
    mimeType,
    buffer: Buffer.from(text),
  });
  await block.getByRole("button", { name: "Execute" }).click();
  const shown = block.locator(
    ".live-responses-table .response .response-col_status",
  );
  return {
    status: (await shown.innerText()).trim(),
    samples: await samplesOf(block),
  };
}

async function execute(block: ReturnType<typeof blockOf>) {
  const [response] = await Promise.all([
    tab.waitForResponse((response: { url(): string }) => response.url().includes("/api/products")),
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
