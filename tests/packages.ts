/*
 * The packages that only tests need. They are not named in `deno.json`: a start
 * of the service installs everything that is. `deno.lock` beside this has them.
 */

export { Ajv2020 } from "npm:ajv@8.20.0/dist/2020.js";
export { default as addFormats } from "npm:ajv-formats@3.0.1";
export { default as fc } from "npm:fast-check@4.10.2";
