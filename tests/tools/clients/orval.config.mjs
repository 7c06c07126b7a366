const input = "./generated/openapi.json";

export default {
  fetch: {
    input,
    output: {
      client: "fetch",
      baseUrl: process.env.BASE_URL,
      target: "./generated/orval_fetch.ts",
    },
  },
  zod: {
    input,
    output: { client: "zod", target: "./generated/orval_zod.ts" },
  },
};
