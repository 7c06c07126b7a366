import type { Reply } from "./envelope.ts";
import type { App } from "../app/harness.ts";
import type { Organization } from "../app/organization.ts";

/** Sends a body to POST and to PUT, and returns both responses. */
export type Writes = (
  body: BodyInit,
  headers?: HeadersInit,
) => Promise<[created: Reply, updated: Reply]>;

/** The writes of the organization. PUT updates the product at the path. */
export function writesOf(app: App, org: Organization, path: string): Writes {
  return async (body, headers) => {
    const send = (method: string, target: string) =>
      app.send(target, {
        method,
        headers: {
          "x-api-key": org.key,
          "content-type": "application/json",
          ...Object.fromEntries(new Headers(headers)),
        },
        body,
      });
    return [await send("POST", "/api/products"), await send("PUT", path)];
  };
}

/** The errors in a response, as pointers with codes. */
export function errorsOf(body: Reply["body"]): [string, string][] {
  return body.error.details.map((
    { pointer, code }: { pointer: string; code: string },
  ) => [pointer, code]);
}
