import deno from "../deno.json" with { type: "json" };

/** The version of the service, as `CHANGELOG.md` has it. That of the API is in `api_versions.ts`. */
export const VERSION: string = deno.version;
