/** The responses to earlier requests, by name. */
// deno-lint-ignore no-explicit-any
export type Responses = Record<string, any>;

/** A request whose response is an example. Path and body may depend on earlier responses. */
export interface ExampleRequest {
  summary: string;
  operation: string;
  /** Relative to the API prefix. */
  path: string | ((responses: Responses) => string);
  /** Text is XML, unless the headers say otherwise. Bytes are sent, and not recorded. */
  body?: object | string | ((responses: Responses) => object);
  headers?: Record<string, string>;
  /** The default is the demo key. */
  caller?: "nobody" | "owner";
  /** Whether the response is the wanted one. Until then, the request is repeated. */
  // deno-lint-ignore no-explicit-any
  until?: (response: any) => boolean;
  /** Whether the request only prepares a later one. */
  isHidden?: true;
}
