/** The client connection preface (RFC 9113, 3.4). */
export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

export const HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, WINDOW_UPDATE = 8;

/** END_STREAM and END_HEADERS: the frame contains the whole request. */
export const WHOLE = 5;

/** The header block of a GET of the path over http. */
export function fieldBlock(
  path: string,
  headers: Record<string, string>,
): number[] {
  return [
    // GET and http from HPACK's static table, the others as literals (RFC 7541, 6.2.2).
    ...[0x82, 0x86],
    ...[0x04, ...string(path)],
    ...[0x01, ...string("a")],
    ...Object.entries(headers).flatMap(([name, value]) => [
      0x00,
      ...string(name),
      ...string(value),
    ]),
  ];
}

/** A frame (RFC 9113, 4.1). */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: number[],
): number[] {
  const { length } = payload;
  const bytes = (value: number) =>
    [value >> 24, value >> 16, value >> 8, value].map((byte) => byte & 255);
  return [...bytes(length).slice(1), type, flags, ...bytes(stream), ...payload];
}

/** A string of at most 126 bytes, whose length fits one byte. */
function string(text: string): number[] {
  return [text.length, ...new TextEncoder().encode(text)];
}
