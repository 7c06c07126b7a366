/*
 * The packages that only tests import. The start of the service installs everything
 * in `deno.json` and `deno.lock`, so these packages are not listed there. The tasks
 * check and test use `--lock=tests/deno.lock`. Packages of child processes are in
 * `tests/tools/`: a test installs them only when it runs such a process.
 */

export { Ajv2020 } from "npm:ajv@8.20.0/dist/2020.js";
export { default as addFormats } from "npm:ajv-formats@3.0.1";
export { default as fc } from "npm:fast-check@4.10.2";
