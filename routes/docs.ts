import { etagOf } from "../db/entity_tag.ts";
import type { Handler, HandlerResponse, Services } from "../middleware/context.ts";
import { errorCodes } from "./openapi/error_responses.ts";
import type { DescribedOperation } from "./openapi/operation.ts";
import { CODE_LISTS } from "../schema/onix_codes.ts";
import { OTHER_WORDS } from "../schema/spelling.ts";
import { type Guide, readGuides } from "./guides.ts";

/* The OpenAPI document and the reference page. */

/** `GET /openapi.json`: creates the handler of the OpenAPI 3.1 document of these operations. */
export function openapiHandler(operations: () => readonly DescribedOperation[]): Handler {
  return constant(async ({ apiPrefix }) => {
    const { openapiDocument } = await import("./openapi/document.ts");
    return openapiDocument(operations(), apiPrefix);
  });
}

/** How long browsers keep the files of Swagger UI. They revalidate the page's own files, which change with each release. */
const AN_HOUR = "public, max-age=3600";

/** Restricts the page to this service. Swagger UI has `data:` images for its icons. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The files of `docs/` that the page loads, besides Swagger UI. */
const OWN_FILES = [
  "page.css",
  "swagger.css",
  "page.js",
  "credentials.js",
  "navigation.js",
  "fields.js",
  "lists.js",
  "make.js",
  "operations.js",
  "samples.js",
  "search.js",
];

/** The media types of assets by the ends of their names. */
const MEDIA_TYPES: Record<string, string> = {
  css: "text/css",
  js: "text/javascript",
  json: "application/json",
};

/** The handlers of the reference page and its assets, by path. Swagger UI shows the operations. */
export const DOCS: Record<string, Handler> = {
  "/docs": constant(
    async ({ apiPrefix }) => {
      const guides = await readGuides();
      const parts: Record<string, string> = {
        "{prefix}": apiPrefix,
        "{guide links}": guides.map(linkOf).join("\n"),
        "{guide cards}": guides.map(cardOf).join("\n"),
        "{guides}": guides.map(screenOf).join("\n"),
        "{codes}": rowsOfCodes(),
      };
      return (await ownFile("page.html"))
        .replace(
          /\{(?:prefix|codes|guides|guide \w+)\}/g,
          (name) => parts[name]!,
        );
    },
    {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": POLICY,
      "referrer-policy": "no-referrer",
    },
  ),
  ...Object.fromEntries(OWN_FILES.map((name) => {
    return [`/docs/${name}`, asset(name, "no-cache", () => ownFile(name))];
  })),
  "/docs/search.json": asset(
    "search.json",
    "no-cache",
    () => Promise.resolve(searchWords()),
  ),
  "/docs/swagger-ui.css": asset("swagger-ui.css", AN_HOUR, async () => {
    const { default: css } = await import("swagger-ui-dist/swagger-ui.css", {
      with: { type: "text" },
    });
    return css;
  }),
  "/docs/swagger-ui-bundle.js": asset(
    "swagger-ui-bundle.js",
    AN_HOUR,
    async () => {
      const { default: bundle } = await import(
        "swagger-ui-dist/swagger-ui-bundle.js",
        { with: { type: "text" } }
      );
      return bundle;
    },
  ),
};

/** The words that the search of the page adds to the OpenAPI document: synonyms of fields, and the ONIX lists. */
function searchWords(): string {
  const lists = Object.entries(CODE_LISTS).map(([number, { title, codes }]) => [
    number,
    {
      title,
      codes: Object.fromEntries(codes.map(({ code, label }) => [code, label])),
    },
  ]);
  return JSON.stringify({
    otherWords: Object.fromEntries(OTHER_WORDS),
    lists: Object.fromEntries(lists),
  });
}

function linkOf({ name, title }: Guide): string {
  return `<li><a href="#${name}">${title}</a>`;
}

function cardOf({ name, title, summary }: Guide): string {
  return `<li><h2><a href="#${name}">${title}</a></h2><p>${summary}</p>`;
}

function screenOf({ html }: Guide): string {
  return `<section class="screen guide">${html}</section>`;
}

function rowsOfCodes(): string {
  return errorCodes().map(({ status, code, when }) => {
    const sentence = when.replace(/`(.+?)`/g, "<code>$1</code>");
    return `<tr id="codes/${code}" tabindex="-1"><th scope="row"><code>${code}</code><td>${status}<td>${sentence}`;
  }).join("\n");
}

function ownFile(name: string): Promise<string> {
  return Deno.readTextFile(new URL(`docs/${name}`, import.meta.url));
}

function asset(
  name: string,
  caching: string,
  load: () => Promise<string>,
): Handler {
  return constant(load, {
    "content-type": `${MEDIA_TYPES[name.split(".").at(-1)!]}; charset=utf-8`,
    "cache-control": caching,
  });
}

/** A handler of a text that is constant for each service. The first request loads it. */
function constant(
  load: (services: Services) => Promise<string>,
  headers: Record<string, string> = {},
): Handler {
  const loaded = new WeakMap<Services, HandlerResponse>();
  return async ({ services }) => {
    let response = loaded.get(services);
    if (!response) {
      const text = await load(services);
      response = {
        status: 200,
        body: new TextEncoder().encode(text),
        headers: { ...headers, etag: etagOf(text) },
      };
      loaded.set(services, response);
    }
    return response;
  };
}
