import { assertEquals } from "@std/assert";
import { clockAhead } from "../support/app/clock.ts";
import { keyServer, refuses, signer, verifierFor } from "../support/servers/key_server.ts";
import { TIMED } from "../support/app/deadline.ts";

const MINUTE = 60_000;

Deno.test(
  "A token, while its key set is unavailable,",
  TIMED,
  async ({ step: it }) => {
    const [ec, stranger] = [
      await signer("ES256", "a"),
      await signer("ES256", "a"),
    ];
    const jwks = { keys: [ec.jwk] };
    const troubles: Record<string, () => Response | Promise<Response>> = {
      "an error": () => new Response(null, { status: 500 }),
      "an error with a key set": () => Response.json({ keys: [] }, { status: 500 }),
      "a part of a key set": () => Response.json(jwks, { status: 206 }),
      "HTML": () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      "nothing": () => new Response(null, { status: 204 }),
      "no key set": () => Response.json({ keys: "none" }),
      "a list": () => Response.json(jwks.keys),
      "a redirect": () => Response.redirect(`data:application/json,${JSON.stringify(jwks)}`),
      "a redirect to another server": () => Response.redirect(elsewhere.url),
      "a response that never ends": () =>
        new Response(
          new ReadableStream({
            start: (stream) => stream.enqueue(new Uint8Array([32])),
          }),
        ),
    };
    await using elsewhere = keyServer(() => Response.json(jwks));

    await it("gets 503 until a fetch succeeds", async () => {
      await Promise.all(
        Object.entries(troubles).map(async ([name, trouble]) => {
          let response = trouble;
          await using server = keyServer(() => response());
          const verify = verifierFor(server);

          await refuses(verify, await ec.sign(), "SERVICE_UNAVAILABLE", name);

          response = () => Response.json(jwks);
          assertEquals(await verify(await ec.sign()), "reader-1");
          await refuses(verify, await stranger.sign());
        }),
      );
      assertEquals(elsewhere.requests, 0);
    });

    await it("is verified with the last keys for ten minutes, then gets 503", async () => {
      const server = keyServer(() => Response.json(jwks));
      const verify = verifierFor(server);
      await verify(await ec.sign());
      await server[Symbol.asyncDispose]();
      {
        using _ = clockAhead(9 * MINUTE);
        assertEquals(await verify(await ec.sign()), "reader-1");
        await refuses(verify, await stranger.sign());
        const unknown = await stranger.sign({ kid: "unknown" });
        await refuses(verify, unknown, "SERVICE_UNAVAILABLE");
      }
      using _ = clockAhead(11 * MINUTE);
      await refuses(verify, await ec.sign(), "SERVICE_UNAVAILABLE");
    });
  },
);
