import { assertEquals } from "@std/assert";
import { clockAhead } from "../support/app/clock.ts";
import { eventually } from "../support/app/eventually.ts";
import {
  keyServer,
  refuses,
  signer,
  verifierFor,
} from "../support/app/key_server.ts";
import { TIMED } from "../support/app/deadline.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

Deno.test("A token, while its key set is unavailable,", TIMED, async (t) => {
  const [ec, stranger] = [
    await signer("ES256", "a"),
    await signer("ES256", "a"),
  ];
  const jwks = { keys: [ec.jwk] };
  const troubles: Record<string, () => Response | Promise<Response>> = {
    "an error": () => new Response(null, { status: 500 }),
    "an error with a key set": () =>
      Response.json({ keys: [] }, { status: 500 }),
    "a part of a key set": () => Response.json(jwks, { status: 206 }),
    "HTML": () =>
      new Response("<html>", { headers: { "content-type": "text/html" } }),
    "nothing": () => new Response(null, { status: 204 }),
    "no key set": () => Response.json({ keys: "none" }),
    "a list": () => Response.json(jwks.keys),
    "ten megabytes": () =>
      new Response(
        JSON.stringify({ ...jwks, pad: "x".repeat(10 * 1_048_576) }),
      ),
    "a redirect": () =>
      Response.redirect(`data:application/json,${JSON.stringify(jwks)}`),
    "a redirect to another server": () => Response.redirect(elsewhere.url),
    "a response that never ends": () =>
      new Response(
        new ReadableStream({
          start: (stream) => stream.enqueue(new Uint8Array([32])),
        }),
      ),
  };
  await using elsewhere = keyServer(() => Response.json(jwks));

  await t.step("gets 503 before the first successful fetch", async () => {
    await Promise.all(
      Object.entries(troubles).map(async ([name, trouble]) => {
        let response = trouble;
        await using server = keyServer(() => response());
        const verify = verifierFor(server);

        await refuses(verify, await ec.sign(), "SERVICE_UNAVAILABLE", name);
        await refuses(verify, await stranger.sign(), "SERVICE_UNAVAILABLE");

        assertEquals(server.requests, 1, name);
        response = () => Response.json(jwks);
      }),
    );
    assertEquals(elsewhere.requests, 0);
  });

  await t.step("is accepted after the first successful fetch", async () => {
    let response = troubles["an error"]!;
    await using server = keyServer(() => response());
    const verify = verifierFor(server);
    await refuses(verify, await ec.sign(), "SERVICE_UNAVAILABLE");

    response = () => Response.json(jwks);

    using _ = clockAhead(6 * SECOND);
    assertEquals(await verify(await ec.sign()), "reader-1");
  });

  await t.step(
    "is verified with the last keys while fetches fail",
    async () => {
      const known = await Promise.all(
        Object.values(troubles).map(async (trouble) => {
          let response: () => Response | Promise<Response> = () =>
            Response.json(jwks);
          const server = keyServer(() => response());
          const verify = verifierFor(server);
          await verify(await ec.sign());
          response = trouble;
          return { server, verify };
        }),
      );
      using _ = clockAhead(11 * MINUTE);

      await Promise.all(known.map(async ({ server, verify }) => {
        assertEquals(await verify(await ec.sign()), "reader-1");
        await refuses(verify, await stranger.sign());
        await refuses(verify, await stranger.sign({ kid: "unknown" }));
        assertEquals(server.requests, 2);
        await server[Symbol.asyncDispose]();
      }));
    },
  );

  await t.step("waits for no fetch while the keys are young", async () => {
    const { promise: end, resolve } = Promise.withResolvers<void>();
    let response: () => Response | Promise<Response> = () =>
      Response.json(jwks);
    await using server = keyServer(() => response());
    const verify = verifierFor(server);
    await verify(await ec.sign());
    response = () => end.then(() => Response.json({ keys: [] }));

    // The test would wait for ever if the token waited.
    using _ = clockAhead(6 * MINUTE);
    assertEquals(await verify(await ec.sign()), "reader-1");
    assertEquals(await verify(await ec.sign()), "reader-1");

    await eventually(2, () => server.requests);
    resolve();
    await eventually(
      "refused",
      () => ec.sign().then(verify).then(() => "accepted", () => "refused"),
    );
  });

  await t.step(
    "is verified with the last keys while the URL is down",
    async () => {
      const server = keyServer(() => Response.json(jwks));
      const verify = verifierFor(server);
      await verify(await ec.sign());
      await server[Symbol.asyncDispose]();

      using _ = clockAhead(11 * MINUTE);
      assertEquals(await verify(await ec.sign()), "reader-1");
      await refuses(verify, await stranger.sign());
      await refuses(
        verifierFor(server),
        await ec.sign(),
        "SERVICE_UNAVAILABLE",
      );
    },
  );
});
