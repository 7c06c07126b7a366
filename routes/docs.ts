import type { Handler } from "../middleware/context.ts";
import { fixed } from "./static_answer.ts";

/** Only what this service serves. Swagger UI draws its icons as `data:` images. */
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

const CSS = "text/css; charset=utf-8";

const JAVASCRIPT = "text/javascript; charset=utf-8";

/** `GET /openapi.json`: the API in OpenAPI 3.1. */
export function createDescription(prefix: string): Handler {
  return fixed(async () => {
    const { openapiDocument } = await import("../schema/openapi/document.ts");
    return openapiDocument(prefix);
  });
}

/** The reference page at `/docs` and its assets, by method and path. */
export function createDocs(prefix: string): Record<string, Handler> {
  return {
    "GET /docs": fixed(() => PAGE, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": POLICY,
      "referrer-policy": "no-referrer",
    }),
    "GET /docs/start.js": asset(JAVASCRIPT, () => start(prefix)),
    "GET /docs/swagger-ui.css": asset(CSS, async () => {
      const { default: css } = await import("swagger-ui-dist/swagger-ui.css", {
        with: { type: "text" },
      });
      return css;
    }),
    "GET /docs/swagger-ui-bundle.js": asset(JAVASCRIPT, async () => {
      const { default: bundle } = await import(
        "swagger-ui-dist/swagger-ui-bundle.js",
        { with: { type: "text" } }
      );
      return bundle;
    }),
  };
}

function asset(type: string, load: () => string | Promise<string>): Handler {
  return fixed(load, {
    "content-type": type,
    "cache-control": "public, max-age=3600",
  });
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Product Catalogue</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="reference"></div>
<noscript>The reference needs JavaScript.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
`;

/** The script that starts the page, without the validator, which is another host. */
function start(prefix: string): string {
  return `SwaggerUIBundle({
  url: ${JSON.stringify(`${prefix}/openapi.json`)},
  domNode: document.getElementById("reference"),
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;
}
