/**
 * What `deno task compile` makes one program of: `catalogue start` serves, and
 * `catalogue migrate`, `catalogue key create` … are the commands of `deno task`.
 */
if (Deno.args[0] === "start") {
  await import("./main.ts");
} else {
  const { run } = await import("./db/cli.ts");
  await run(Deno.args);
}
