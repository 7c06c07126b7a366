import { assertEquals } from "@std/assert";
import { openApp } from "../support/harness.ts";
import { createRecord } from "../support/records.ts";

Deno.test("POST /products with Idempotency-Key", async (t) => {
  await using app = await openApp();

  await t.step(
    "repeats the response to a repeated request",
    async () => {
      const org = await app.organization();
      const headers = { "idempotency-key": "order-1" };

      const first = await org.post("/api/products", { title: "Emma" }, headers);
      const second = await org.post(
        "/api/products",
        { title: "Emma" },
        headers,
      );

      assertEquals([first.status, second.status], [201, 201]);
      assertEquals(first.headers.get("idempotent-replayed"), null);
      assertEquals(second.headers.get("idempotent-replayed"), "true");
      assertEquals(
        second.headers.get("location"),
        first.headers.get("location"),
      );
      assertEquals(second.headers.get("etag"), first.headers.get("etag"));
      assertEquals(second.text, first.text);
      assertEquals((await org.get("/api/products")).body.meta.total, 1);
    },
  );

  await t.step(
    "repeats the response although the write would fail now",
    async () => {
      const org = await app.organization();
      const headers = { "idempotency-key": "order-1" };
      const license = await createRecord(org, "licenses");
      const product = { title: "Emma", license_id: license.id };
      const first = await org.post("/api/products", product, headers);
      await org.delete(`/api/products/${first.body.data.id}`);
      await org.delete(license.path);

      const second = await org.post("/api/products", product, headers);

      assertEquals(second.text, first.text);
      assertEquals(second.headers.get("idempotent-replayed"), "true");
      assertEquals((await org.get("/api/products")).body.meta.total, 0);
    },
  );

  await t.step("refuses the key with another body (422)", async () => {
    const org = await app.organization();
    const headers = { "idempotency-key": "order-1" };
    await org.post("/api/products", { title: "Emma" }, headers);

    const { status, body } = await org.post("/api/products", {
      title: "Persuasion",
    }, headers);

    assertEquals(status, 422);
    assertEquals(body.error.code, "IDEMPOTENCY_MISMATCH");
  });

  await t.step("refuses the key at another path (422)", async () => {
    const org = await app.organization();
    const headers = { "idempotency-key": "order-1" };
    await org.post("/api/seasons", { name: "Spring" }, headers);

    const { status, body } = await org.post("/api/publishers", {
      name: "Spring",
    }, headers);

    assertEquals(status, 422);
    assertEquals(
      body.error.message,
      "This Idempotency-Key was used for another request: use a new key",
    );
  });

  await t.step("keeps the keys of two organizations apart", async () => {
    const [ours, theirs] = [await app.organization(), await app.organization()];
    const headers = { "idempotency-key": "order-1" };
    await ours.post("/api/products", { title: "Emma" }, headers);

    const { status, body } = await theirs.post("/api/products", {
      title: "Persuasion",
    }, headers);

    assertEquals(status, 201);
    assertEquals(body.data.title, "Persuasion");
  });

  await t.step(
    "creates one product for twenty concurrent requests",
    async () => {
      const org = await app.organization();
      const headers = { "idempotency-key": "a-20-fold" };

      const replies = await Promise.all(
        Array.from(
          { length: 20 },
          () => org.post("/api/products", { title: "Emma" }, headers),
        ),
      );

      for (const { status, body } of replies) {
        if (status === 409) {
          assertEquals(body.error.code, "IDEMPOTENCY_IN_PROGRESS");
        } else assertEquals(status, 201);
      }
      assertEquals((await org.get("/api/products")).body.meta.total, 1);
    },
  );

  await t.step("forgets the key of a failed request", async () => {
    const org = await app.organization();
    const headers = { "idempotency-key": "order-1" };

    const failed = await org.post("/api/products", {
      title: "Emma",
      license_id: org.id,
    }, headers);
    const { status } = await org.post(
      "/api/products",
      { title: "Emma" },
      headers,
    );

    assertEquals([failed.status, status], [400, 201]);
  });

  await t.step("accepts a key again after a day", async () => {
    const org = await app.organization();
    const headers = { "idempotency-key": "order-1" };
    await org.post("/api/products", { title: "Emma" }, headers);
    await app.sql((sql) =>
      sql`update idempotency_keys set created_at = now() - interval '25 hours' where organization_id = ${org.id}`
    );

    const { status, headers: answered } = await org.post("/api/products", {
      title: "Emma",
    }, headers);

    assertEquals(status, 201);
    assertEquals(answered.get("idempotent-replayed"), null);
    assertEquals((await org.get("/api/products")).body.meta.total, 2);
  });

  await t.step("refuses an invalid key (400)", async () => {
    const org = await app.organization();
    const keys = ["", "x".repeat(256), "x".repeat(10_000), "two words", "\xe9"];
    for (const key of keys) {
      const { status, body } = await org.post("/api/products", {
        title: "Emma",
      }, { "idempotency-key": key });

      assertEquals(status, 400);
      assertEquals(body.error.details[0].header, "Idempotency-Key");
    }
  });
});
