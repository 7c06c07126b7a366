import { deletionOf, message, record } from "../data/onix.ts";
import type { ExampleRequest } from "./request.ts";

const MESSAGE = message(
  record({
    reference: "com.lighthouse.9780141439518",
    isbn: "978-0-14-143951-8",
    title: "Pride and Prejudice",
    publisher: "Lighthouse Books",
    imprint: "Lighthouse Classics",
  }),
  deletionOf("com.lighthouse.unknown"),
);

/** The requests for ONIX. */
export const ONIX: Record<string, ExampleRequest> = {
  importOnix: {
    summary: "A new book, and a deletion of an unknown one",
    operation: "POST /onix/products",
    path: "/onix/products",
    body: MESSAGE,
  },
  importOnixAcknowledged: {
    summary: "The same message again, acknowledged in ONIX",
    operation: "POST /onix/products",
    path: "/onix/products",
    body: MESSAGE,
    headers: { accept: "application/xml" },
  },
  importOnixInvalid: {
    summary: "A message that is not well-formed after its first record",
    operation: "POST /onix/products",
    path: "/onix/products?dry_run=true",
    body: MESSAGE.replace("</ONIXMessage>", "</Product>"),
  },
  getOnixRecord: {
    summary: "The book as it goes out",
    operation: "GET /onix/products/{id}",
    path: ({ importOnix }) => `/onix/products/${importOnix.data.outcomes[0].id}`,
  },
  listOnixRecords: {
    summary: "The first page of the feed",
    operation: "GET /onix/products",
    path: "/onix/products?limit=1&release=3.0&tags=short",
  },
};
