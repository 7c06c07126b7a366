/** The supported versions of the API, the default first (specification, 9). */
export const API_VERSIONS: [string, ...string[]] = ["1.0"];
