import { assertEquals } from "@std/assert";
import { eventually } from "../app/eventually.ts";
import { type App, type Scene, testsOf } from "../app/harness.ts";
import type { Organization } from "../app/organization.ts";
import { productsIn } from "../data/onix.ts";
import type { Reply } from "./envelope.ts";

/** Sends messages for an organization, and reads its records. */
export interface OnixClient {
  /** Imports a message, whatever comes of it. */
  post(
    body: BodyInit,
    query?: string,
    headers?: HeadersInit,
  ): Promise<Reply>;
  /** Imports a message, and returns the report. */
  // deno-lint-ignore no-explicit-any
  report(body: BodyInit, query?: string): Promise<any>;
  /** The message at a path below `/onix/products`. */
  xml(path?: string): Promise<string>;
  /**
   * Follows the feed from its start until it has this number of records, which may take
   * until older transactions end. Returns them.
   */
  feed(records: number, query?: string): Promise<string[]>;
}

/** The client of an organization. */
export function onixClient(
  app: Pick<App, "send">,
  { key }: Pick<Organization, "key">,
): OnixClient {
  const post: OnixClient["post"] = (body, query = "", headers = {}) =>
    app.send(`/api/onix/products${query}`, {
      method: "POST",
      headers: {
        "x-api-key": key,
        "content-type": "application/xml",
        ...Object.fromEntries(new Headers(headers)),
      },
      body,
    });
  const get = (path: string) => app.send(path, { headers: { "x-api-key": key } });
  return {
    post,
    async report(body, query) {
      const { status, body: answer, text } = await post(body, query);
      assertEquals(status, 200, text);
      return answer.data;
    },
    async xml(path = "") {
      const { status, text } = await get(`/api/onix/products${path}`);
      assertEquals(status, 200, text);
      return text;
    },
    async feed(records, query = "?limit=1000") {
      const found: string[] = [];
      let path = `/api/onix/products${query}`;
      await eventually(records, async () => {
        const { text, headers } = await get(path);
        found.push(...productsIn(text));
        path = nextOf(headers);
        return found.length;
      });
      return found;
    },
  };
}

/** The path of the next page in the header `Link`. */
export function nextOf(headers: Headers): string {
  return /<([^>]+)>; rel="next"/.exec(headers.get("link")!)![1]!;
}

/** What a test of ONIX begins with: an organization, its client, and its products in JSON. */
export interface OnixScene extends Scene {
  onix: OnixClient;
  // deno-lint-ignore no-explicit-any
  product(id: string): Promise<any>;
  // deno-lint-ignore no-explicit-any
  products(): Promise<any[]>;
  /** The same of one more organization. */
  another(): Promise<OnixScene>;
}

/** Returns a function that adds tests, whose names begin with the subject. */
export function onixTestsOf(subject: string) {
  const it = testsOf(subject);

  return (behaviour: string, test: (scene: OnixScene) => Promise<void>): void =>
    it(behaviour, (scene) => test(onixScene(scene)));
}

/** The scene of a test with the ONIX requests of its organization. */
export function onixScene(scene: Scene): OnixScene {
  const { app, org } = scene;
  const dataAt = async (path: string) => (await org.get(path)).body.data;
  return {
    ...scene,
    onix: onixClient(app, org),
    product: (id) => dataAt(`/api/products/${id}`),
    products: () => dataAt("/api/products?sort=title"),
    another: async () => onixScene({ ...scene, org: await app.organization() }),
  };
}
