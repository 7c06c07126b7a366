import { assertEquals } from "@std/assert";

/** So much of a text gives it away. What is shorter may stand in a log by chance. */
const LENGTH = 12;

/** An API key, or what was meant as one: the secret begins behind its public id. */
const KEY = /^cat_[0-9a-z]{12}_(.+)$/;

/** A token: what it claims, and its signature. How it is signed is no secret. */
const TOKEN = /^Bearer +[\w-]*\.([\w-]*)\.([\w-]*)/i;

/** Ids and times say which record it was and when, and nothing of it. */
const TOLD =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z/gi;

/** Where a client says what may be read of its request. */
const SHOWN = ["path", "request_id"];

/** What the readers of a log have no business with, and whether they find it there. */
export class Secrets {
  /** The beginnings of keys, tokens and passwords: to look for one costs the same however many there are. */
  readonly #credentials = new Set<string>();

  /** The beginnings of whatever else a client sent. */
  readonly #texts = new Set<string>();

  /** An API key, a token behind its scheme, or a password. */
  addCredential(text: string): void {
    const [, ...parts] = KEY.exec(text) ?? TOKEN.exec(text) ?? ["", text];
    for (const part of parts) note(this.#credentials, part);
  }

  /** Credentials, query and body of a request. */
  addRequest({ headers, url }: Request, body: unknown): void {
    for (const name of ["x-api-key", "authorization", "idempotency-key"]) {
      const value = headers.get(name) ?? "";
      if (KEY.test(value) || TOKEN.test(value)) this.addCredential(value);
      else note(this.#texts, value);
    }
    for (const value of new URL(url).searchParams.values()) {
      note(this.#texts, value);
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
      // It is no JSON, and a text like any other.
      note(this.#texts, body);
    }
  }

  /** What is secret in the fields of a line, as it is or escaped as in a URL. */
  foundIn(fields: Record<string, unknown>): string | undefined {
    for (const [name, value] of Object.entries(fields)) {
      const secrets = SHOWN.includes(name)
        ? [this.#credentials]
        : [this.#credentials, this.#texts];
      for (const text of stringsIn(value)) {
        const found = find(secrets, text) ?? find(secrets, unescaped(text));
        if (found) return found;
      }
    }
  }
}

/** What no log of the service may hold: all that was issued and sent by these tests. */
export const SECRETS = new Secrets();

/** Expects nothing of it in what a process has printed. */
export function assertNothingSecret(printed: string): void {
  const found = printed.split("\n").filter((line) => SECRETS.foundIn({ line }));
  assertEquals(found, []);
}

function note(secrets: Set<string>, text: string): void {
  const untold = text.replace(TOLD, "");
  if (untold.length >= LENGTH) secrets.add(untold.slice(0, LENGTH));
}

function find(secrets: Set<string>[], text: string): string | undefined {
  for (let at = 0; at + LENGTH <= text.length; at++) {
    const part = text.slice(at, at + LENGTH);
    if (secrets.some((all) => all.has(part))) return part;
  }
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value.replace(TOLD, "");
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
