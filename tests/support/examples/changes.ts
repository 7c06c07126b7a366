import type { ExampleRequest } from "./request.ts";

/** A cursor of another database. */
const FOREIGN_CURSOR = btoa(
  "01980000-0000-4000-8000-000000000000 1 01980000-0000-4000-8000-000000000000 1 1767258000000 01980000-0000-4000-8000-000000000000 1",
).replaceAll("=", "");

/** Reads the whole feed, before other examples write products. */
export const FOLLOW: ExampleRequest = {
  summary: "A new copy",
  operation: "GET /products/changes",
  path: "/products/changes?limit=1000",
  isHidden: true,
};

/** The requests for changes, after other examples have written and deleted products. */
export const CHANGES: Record<string, ExampleRequest> = {
  listChanges: {
    summary: "The first page of a new copy",
    operation: "GET /products/changes",
    path: "/products/changes?limit=1",
  },
  listChangesSince: {
    summary: "Later changes, with deletions",
    operation: "GET /products/changes",
    path: ({ follow }) => `/products/changes?after=${follow.meta.cursor}`,
  },
  listChangesExpired: {
    summary: "A cursor of another database",
    operation: "GET /products/changes",
    path: `/products/changes?after=${FOREIGN_CURSOR}`,
  },
};
