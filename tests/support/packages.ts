/*
 * The packages that only tests need. A start of the service installs all that
 * `deno.json` and `deno.lock` name, so they are not named there: the tasks check
 * and test with `--lock=tests/deno.lock`.
 */

export { Ajv2020 } from "npm:ajv@8.20.0/dist/2020.js";
export { default as addFormats } from "npm:ajv-formats@3.0.1";
export { default as fc } from "npm:fast-check@4.10.2";
