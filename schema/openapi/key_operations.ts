import { GUARDED, type Operation, WITH_BODY } from "./operation.ts";

/** The operations on API keys, for admins and owners. */
export const API_KEYS = {
  "GET /api-keys": {
    operationId: "listApiKeys",
    summary: "List API keys",
    description:
      "All keys of the organization, newest first, without their secrets.",
    tag: "API keys",
    isAdministration: true,
    answer: {
      status: 200,
      description: "The keys, including revoked and expired ones.",
      body: "ApiKeysAnswer",
    },
    errors: GUARDED,
  },
  "POST /api-keys": {
    operationId: "createApiKey",
    summary: "Create an API key",
    description:
      "The response shows the key once: the service stores only its hash.",
    tag: "API keys",
    isAdministration: true,
    body: "NewApiKey",
    answer: {
      status: 201,
      description: "The key.",
      body: "IssuedApiKeyAnswer",
      headers: ["Location"],
    },
    errors: WITH_BODY,
  },
  "GET /api-keys/{key_id}": {
    operationId: "getApiKey",
    summary: "Get an API key",
    tag: "API keys",
    isAdministration: true,
    answer: {
      status: 200,
      description: "The key without its secret.",
      body: "ApiKeyAnswer",
    },
    errors: [...GUARDED, "NOT_FOUND"],
  },
  "DELETE /api-keys/{key_id}": {
    operationId: "revokeApiKey",
    summary: "Revoke an API key",
    description:
      "The key stops working within five seconds, or at the time `at`, which can be changed until then. A revoked key stays revoked.",
    tag: "API keys",
    isAdministration: true,
    query: ["at"],
    answer: {
      status: 200,
      description: "The key. It stops working at `revoked_at`.",
      body: "ApiKeyAnswer",
    },
    errors: [...GUARDED, "NOT_FOUND"],
  },
} satisfies Record<string, Operation>;
