/** The responses to earlier requests, by name. */
// deno-lint-ignore no-explicit-any
export type Responses = Record<string, any>;

/** A request whose response is an example. Path and body may depend on earlier responses. */
export interface ExampleRequest {
  summary: string;
  operation: string;
  /** Relative to the API prefix. */
  path: string | ((responses: Responses) => string);
  body?: object | ((responses: Responses) => object);
  /** The default is the demo key. */
  caller?: "nobody" | "owner";
  /** Whether the request only prepares a later one. */
  isHidden?: true;
}
