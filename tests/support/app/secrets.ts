import { assertEquals } from "@std/assert";
import { FIELDS } from "../../../schema/product.ts";

/** The length from which text counts as leaked. Shorter text may occur in a log by chance. */
const LENGTH = 12;

/** An API key, or an attempt at one. The secret follows the public id. */
const KEY = /^cat_[0-9a-z]{12}_(.+)$/;

/** A token: its payload and signature. Its header is not secret. */
const TOKEN = /^Bearer +[\w-]*\.([\w-]*)\.([\w-]*)/i;

/** Ids and times identify a record without revealing its content. Origins of this machine reveal nothing. */
const HARMLESS =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|https?:\/\/127\.0\.0\.1(?::\d+)?/gi;

/** How the names of fields begin: clients name columns, and codes in the log are named after fields. */
const NAMES = new Set(Object.keys(FIELDS).map((name) => name.slice(0, LENGTH)));

/** The fields of a log line that may contain client data, or names of fields as clients also send them. */
const SHOWN = ["path", "request_id", "ignored_fields"];

/** The secrets that a log must not contain, and a search for them. */
export class Secrets {
  /** The prefixes of keys, tokens and passwords. A set makes the search independent of their number. */
  readonly #credentials = new Set<string>();

  /** The prefixes of all other texts that clients sent. */
  readonly #texts = new Set<string>();

  /** Adds an API key, a token with its scheme, or a password. */
  addCredential(text: string): void {
    const [, ...parts] = KEY.exec(text) ?? TOKEN.exec(text) ?? ["", text];
    for (const part of parts) note(this.#credentials, part);
  }

  /** Adds the credentials, the query and the body of a request. */
  addRequest({ headers, url }: Request, body: unknown): void {
    for (const name of ["x-api-key", "authorization", "idempotency-key"]) {
      const value = headers.get(name) ?? "";
      if (KEY.test(value) || TOKEN.test(value)) this.addCredential(value);
      else note(this.#texts, value);
    }
    for (const [name, value] of new URL(url).searchParams) {
      // The values of `include` and `sort` are names of fields.
      if (!["include", "sort"].includes(name)) note(this.#texts, value);
    }
    if (typeof body === "string") this.#addBody(body);
  }

  #addBody(body: string): void {
    try {
      JSON.parse(body, (key, value) => {
        // The `match` of an upsert is the name of a field.
        if (typeof value !== "string" || key === "match") return;
        note(this.#texts, value);
      });
    } catch {
      // The body is not JSON: treat it as text.
      note(this.#texts, body);
    }
  }

  /** The secret found in the fields of a line, literal or percent-encoded. */
  foundIn(fields: Record<string, unknown>): string | undefined {
    for (const [name, value] of Object.entries(fields)) {
      const secrets = SHOWN.includes(name) ? [this.#credentials] : [this.#credentials, this.#texts];
      for (const text of stringsIn(value)) {
        const found = find(secrets, text) ?? find(secrets, unescaped(text));
        if (found) return found;
      }
    }
  }
}

/** All secrets and texts that these tests have issued or sent. */
export const SECRETS = new Secrets();

/** Expects no secret in the output of a process. */
export function assertNothingSecret(printed: string): void {
  const found = printed.split("\n").filter((line) => SECRETS.foundIn({ line }));
  assertEquals(found, []);
}

function note(secrets: Set<string>, text: string): void {
  const rest = text.replace(HARMLESS, "");
  const beginning = rest.slice(0, LENGTH);
  if (rest.length >= LENGTH && !NAMES.has(beginning)) secrets.add(beginning);
}

function find(secrets: Set<string>[], text: string): string | undefined {
  for (let at = 0; at + LENGTH <= text.length; at++) {
    const part = text.slice(at, at + LENGTH);
    if (secrets.some((all) => all.has(part))) return part;
  }
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value.replace(HARMLESS, "");
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) yield* stringsIn(inner);
}

function unescaped(text: string): string {
  try {
    return text.includes("%") ? decodeURIComponent(text) : "";
  } catch {
    return "";
  }
}
