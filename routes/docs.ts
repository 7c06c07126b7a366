import type { Handler } from "../middleware/context.ts";
import { etagOf, isNotModified } from "../middleware/conditional.ts";

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

/** The placeholder for the origin in the description: a reserved domain (RFC 2606). */
const ANY_ORIGIN = "http://catalogue.invalid";

/** Origins with a cached description. Clients choose them, so the cache is bounded. */
const MAX_ORIGINS = 16;

/** `GET /openapi.json`: the OpenAPI 3.1 description, with the origin of the request. */
export function createDescription(prefix: string): Handler {
  let description: string | undefined;
  const known = new Map<string, Handler>();
  async function load(origin: string): Promise<string> {
    const { openapiDocument } = await import("../schema/openapi/document.ts");
    description ??= openapiDocument(ANY_ORIGIN, prefix);
    return description.replaceAll(ANY_ORIGIN, () => origin);
  }
  return (context) => {
    const origin = originOf(context.request);
    let handler = known.get(origin);
    if (!handler) {
      if (known.size === MAX_ORIGINS) known.clear();
      handler = fixed(() => load(origin));
      known.set(origin, handler);
    }
    return handler(context);
  };
}

/** The origin of the request. A proxy that terminates TLS sends `X-Forwarded-Proto`. */
function originOf({ url, headers }: Request): string {
  const { protocol, host } = new URL(url);
  const isSecure = headers.get("x-forwarded-proto") === "https";
  return `${isSecure ? "https:" : protocol}//${host}`;
}

/** The handlers of the reference page at `/docs` and its assets: Swagger UI. */
export function createDocs(prefix: string): Record<string, Handler> {
  return {
    "GET /docs": fixed(
      async () => (await ownFile("page.html")).replace("{prefix}", prefix),
      {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": POLICY,
        "referrer-policy": "no-referrer",
      },
    ),
    "GET /docs/start.js": asset("javascript", () => ownFile("start.js")),
    "GET /docs/page.css": asset("css", () => ownFile("page.css")),
    "GET /docs/swagger-ui.css": asset("css", async () => {
      const { default: css } = await import("swagger-ui-dist/swagger-ui.css", {
        with: { type: "text" },
      });
      return css;
    }),
    "GET /docs/swagger-ui-bundle.js": asset("javascript", async () => {
      const { default: bundle } = await import(
        "swagger-ui-dist/swagger-ui-bundle.js",
        { with: { type: "text" } }
      );
      return bundle;
    }),
  };
}

function ownFile(name: string): Promise<string> {
  return Deno.readTextFile(new URL(`docs/${name}`, import.meta.url));
}

function asset(type: string, load: () => Promise<string>): Handler {
  return fixed(load, {
    "content-type": `text/${type}; charset=utf-8`,
    "cache-control": "public, max-age=3600",
  });
}

/** Serves a constant text, loaded on the first request. Honours `If-None-Match`. */
function fixed(
  load: () => Promise<string>,
  constant: Record<string, string> = {},
): Handler {
  let loaded: { body: Uint8Array<ArrayBuffer>; etag: string } | undefined;
  return async ({ request }) => {
    if (!loaded) {
      const text = await load();
      loaded ??= { body: new TextEncoder().encode(text), etag: etagOf(text) };
    }
    const { body, etag } = loaded;
    const headers = { ...constant, etag };
    return isNotModified(request.headers, etag)
      ? { status: 304, headers }
      : { status: 200, body, headers };
  };
}
