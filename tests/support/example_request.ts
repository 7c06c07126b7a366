/** The answers to earlier requests, by name. */
// deno-lint-ignore no-explicit-any
export type Answers = Record<string, any>;

/** A request whose answer is an example. Path and body may follow from earlier answers. */
export interface ExampleRequest {
  summary: string;
  operation: string;
  /** Under the API prefix, or absolute if the operation is outside it. */
  path: string | ((answers: Answers) => string);
  body?: object | ((answers: Answers) => object);
  /** Absent: the demo key. */
  caller?: "nobody" | "owner";
  /** Whether it only prepares a later one. */
  isHidden?: true;
}
