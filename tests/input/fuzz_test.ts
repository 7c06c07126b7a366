import { assert, assertEquals } from "@std/assert";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { fullBody } from "../support/data/bodies.ts";
import { openApp } from "../support/app/harness.ts";
import { textsIn } from "../support/data/faults.ts";
import { PRODUCT } from "../support/data/fields.ts";
import { HOSTILE } from "../support/data/hostile_strings.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";
import { placesIn, replaced } from "../support/client/pointers.ts";

const SECRET = "a secret that has thirty-two bytes or more";
const PRODUCTS = "/api/products";

/** Entries of a code list, which rules their other texts. The entries beside them are of a scheme of the sender, and take any. */
const CODED =
  /^\/(?:product_identifiers\/1|subjects\/0|audiences\/1|audience_ranges\/1|product_form_features\/0|related_products\/0\/product_identifiers\/0)\/(?!\w+_(?:type|identifier|qualifier)$)/;

/** Texts that other fields of the entry require: the names of schemes, and ends of a range. */
const REQUIRED_TEXT = /_type_name$|\/audience_ranges\/0\/\w+_(?:from|to)$/;

Deno.test("Hostile strings", async ({ step: it }) => {
  await using app = await openApp({
    verifyToken: createTokenVerifier({ secret: SECRET }),
  });
  const org = await app.organization();
  const whole = await fullBody(app, org);
  const required = placesIn(whole).flatMap(([at, value]) =>
    typeof value === "string" && REQUIRED_TEXT.test(at) ? [at] : []
  );
  const texts = [...textsIn(whole, PRODUCT), ...required]
    .filter((at) => !CODED.test(at));
  const { path, product } = await org.create(whole);

  await it("are stored unchanged in every text field", async () => {
    for (let i = 0; i < HOSTILE.length; i += texts.length) {
      const strings = new Map(
        texts.map((at, j) => [at, HOSTILE[(i + j) % HOSTILE.length]!] as const)
          // The number of a part has at most 50 characters.
          .filter(([at, string]) => !at.endsWith("/part_number") || string.length <= 50),
      );
      let body: unknown = whole;
      for (const [at, string] of strings) body = replaced(body, at, string);

      const { status } = await org.put(path, body);

      assertEquals(status, 200);
      const stored = new Map(placesIn((await org.get(path)).body.data));
      for (const [at, string] of strings) assertEquals(stored.get(at), string);
    }
  });

  await it("are refused in every other field", async () => {
    const places = placesIn(whole).filter(([at, value]) =>
      typeof value === "string" && !texts.includes(at) && !CODED.test(at)
    );
    for (const [i, string] of HOSTILE.entries()) {
      const [at] = places[i % places.length]!;

      const { status, body } = await org.put(path, replaced(whole, at, string));

      assertEquals(status, 400, `${at}: ${string}`);
      assert(
        // A wrong code also decides what its own entry may have beside it.
        body.error.details.every(({ pointer }: { pointer: string }) =>
          pointer.startsWith(at.slice(0, at.lastIndexOf("/") + 1))
        ) && body.error.details.some(({ pointer }: { pointer: string }) => pointer === at),
      );
    }
  });

  await it("are refused as field names", async () => {
    for (const string of HOSTILE) {
      const { status } = await org.put(path, { [string]: string });

      assertEquals(status, 400, string);
    }
  });

  await it("are searched for, and refused in other parameters", async () => {
    const parameters = ["page", "limit", "include", "format_id"]
      .concat("publishing_status_id", "lifecycle_status_id", "sort")
      .concat("product_availability_id", "updated_since", "isbn13");
    for (const [i, string] of HOSTILE.entries()) {
      const value = encodeURIComponent(string);
      const parameter = parameters[i % parameters.length];

      const found = await org.get(`${PRODUCTS}?search=${value}`);
      const refused = await org.get(
        `${PRODUCTS}?${i % 2 ? value : parameter}=${value}`,
      );

      assertEquals(found.status, 200, string);
      assertEquals(refused.status, 400, `${parameter}: ${string}`);
    }
  });

  await it("match no path", async () => {
    for (const [i, string] of HOSTILE.entries()) {
      const { status } = await app.send(
        `${PRODUCTS}/${encodeURIComponent(string)}`,
        {
          method: ["GET", "PUT", "DELETE"][i % 3]!,
          headers: { "x-api-key": org.key },
        },
      );

      assertEquals(status, 404, string);
    }
  });

  await it("are refused or ignored in headers", async () => {
    const asKey = { "x-api-key": org.key };
    const token = hmacToken(SECRET, claims());
    const asMember = {
      authorization: `Bearer ${token}`,
      "x-organization-id": org.id,
    };
    const headers: [string, Record<string, string>, number[]][] = [
      ["x-api-key", {}, [401]],
      ["authorization", {}, [401]],
      ["x-organization-id", asMember, [401, 403]],
      ["accept-version", asKey, [200, 400]],
      ["x-request-id", asKey, [200]],
      ["if-none-match", asKey, [200]],
      ["accept", asKey, [200]],
      ["origin", asKey, [200]],
      ["content-type", asKey, [200]],
      ["cookie", asKey, [200]],
      ["x-forwarded-for", asKey, [200]],
    ];
    const sendable = HOSTILE.filter((string) => /^[\t -~\x80-\xff]*$/.test(string));
    for (const [i, string] of sendable.entries()) {
      const [name, others, expected] = headers[i % headers.length]!;

      const { status } = await app.send(path, {
        headers: { ...others, [name]: string },
      });

      assert(expected.includes(status), `${status} ${name}: ${string}`);
    }
  });

  await it("are no members as token subjects", async () => {
    for (const string of HOSTILE.slice(0, 100)) {
      const { status } = await app.send(path, {
        headers: {
          authorization: `Bearer ${hmacToken(SECRET, claims({ sub: string }))}`,
          "x-organization-id": org.id,
        },
      });

      assertEquals(status, 403, string);
    }
  });

  await it("changed nothing else", async () => {
    const { body } = await org.get(PRODUCTS);

    assertEquals(body.meta.total, 1);
    assertEquals(body.data[0].id, product.id);
    const failures = app.logged.filter(({ status }) => Number(status) >= 500);
    assertEquals(failures, []);
  });
});
