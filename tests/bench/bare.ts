import postgres from "postgres";

/*
 * The upper limit for a GET on this platform: a handler that only passes stored JSON
 * on. It runs as a separate process, started by the benchmark.
 */

/** The stored JSON of one product, if it is valid. */
const STATEMENT = `
  select '{' || d.summary || ',' || d.details || '}' as product
  from product_documents d
  join products p on p.organization_id = d.organization_id and p.id = d.product_id
  join organizations o on o.id = d.organization_id
  where d.organization_id = $1 and d.product_id = $2
    and d.updated_at = p.updated_at and d.names_version = o.names_version
`;

/** As many connections as the service, each with one statement at a time. The types lack `max_pipeline`. */
const sql = postgres(
  Deno.env.get("DATABASE_URL")!,
  { max: 16, max_pipeline: 1, fetch_types: false } as postgres.Options<
    Record<string, postgres.PostgresType>
  >,
);

const organizationId = Deno.env.get("ORGANIZATION_ID")!;

Deno.serve({
  hostname: "127.0.0.1",
  port: Number(Deno.env.get("PORT")),
  onListen() {},
}, async ({ url }) => {
  const id = url.slice(url.lastIndexOf("/") + 1);
  const [row] = await sql.unsafe(STATEMENT, [organizationId, id], {
    prepare: true,
  });
  if (!row) return new Response(null, { status: 404 });
  return new Response(`{"success":true,"data":${row.product},"error":null}`);
});
