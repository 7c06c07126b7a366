import postgres from "postgres";

/*
 * A handler that only passes stored JSON on: the upper limit of a GET on this platform. It
 * checks no credentials, writes no log and sets no headers.
 */

const { DATABASE_URL, PORT, STATEMENTS } = Deno.env.toObject();

/** As many connections as the service, each with one statement at a time. The types lack `max_pipeline`. */
const sql = postgres(
  DATABASE_URL!,
  { max: 16, max_pipeline: 1, fetch_types: false } as postgres.Options<
    Record<string, postgres.PostgresType>
  >,
);

const { get } = JSON.parse(STATEMENTS!);

Deno.serve({
  hostname: "127.0.0.1",
  port: Number(PORT),
  onListen() {},
}, async ({ url }) => {
  const id = url.slice(url.lastIndexOf("/") + 1);
  const parameters = get.parameters.map((value: string) => value === "{id}" ? id : value);
  const [row] = await sql.unsafe(get.text, parameters, { prepare: true });
  if (!row) return new Response(null, { status: 404 });
  return new Response(`{"success":true,"data":${row.product},"error":null}`);
});
