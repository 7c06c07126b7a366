/** The versions of the API that are served, the default first (specification, 9). */
export const VERSIONS: [string, ...string[]] = ["1.0"];
