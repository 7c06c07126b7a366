import { type Prose, text } from "./text.ts";

/** The prose of the operations of API keys, Service. */
export const SERVICE = {
  listApiKeys: {
    tag: "API keys",
    summary: "List API keys",
    description: "The keys of the organization, newest first, without their secrets.",
    returns: "A page of the keys, including revoked and expired ones.",
  },
  createApiKey: {
    tag: "API keys",
    summary: "Create an API key",
    description: "The response shows the key once: the service stores only its hash.",
    returns: "The key.",
  },
  getApiKey: {
    tag: "API keys",
    summary: "Get an API key",
    description: "The key is identified by the 12 characters after `cat_`.",
    returns: "The key without its secret.",
  },
  revokeApiKey: {
    tag: "API keys",
    summary: "Revoke an API key",
    description: text(
      "The key stops working within five seconds, or at the time `at`, which can be changed until then.",
      "A revoked key stays revoked.",
    ),
    returns: text(
      "The key.",
      "It stops working at `revoked_at`.",
    ),
  },
  getDescription: {
    tag: "Service",
    summary: "Get this description",
    description: text(
      "The OpenAPI document, for generators of clients and for tools.",
      "It needs no credentials.",
    ),
    returns: "This description of the API (OpenAPI 3.1).",
  },
  getLiveness: {
    tag: "Service",
    summary: "Check liveness",
    description: text(
      "Responds as long as the process runs, even without a database.",
      "A supervisor restarts a process that does not respond.",
      "Also at `/health/live` outside the prefix.",
    ),
    returns: "The service is running.",
  },
  getReadiness: {
    tag: "Service",
    summary: "Check readiness",
    description: text(
      "Responds with 200 if requests can be served, and with 503 otherwise.",
      "A load balancer then sends requests elsewhere.",
      "Also at `/health/ready` outside the prefix.",
    ),
    returns: "The service accepts requests and the database responds.",
  },
} satisfies Record<string, Prose>;
