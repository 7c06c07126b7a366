import { tablesDigest } from "../out/rules_digest.ts";

/*
 * The version of the rules by which records are analysed. It is part of every key in the cache of
 * analyses, so that a new version of the service reads all records again if its rules differ.
 * It has two parts: a digest of the tables, which changes by itself, and a number for the code.
 */

/** The version of the code that reads records. A test fails if readings change and this does not. */
export const READING_VERSION = 4;

/** Returns the version of the rules: a number and a digest, without a space. */
export function rulesVersion(): string {
  return `${READING_VERSION}-${tablesDigest()}`;
}
