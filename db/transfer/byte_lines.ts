const NEWLINE = 10;

/** Larger than any record: a file without line breaks must not fill the memory. */
const MOST_BYTES = 256 * 1024 * 1024;

/** A line of a file: its number from 1 on, its bytes, and how many bytes of the file end with it. */
export interface ByteLine {
  number: number;
  bytes: Uint8Array;
  end: number;
}

/** Splits a stream into lines. Throws where a line is larger than any record. */
export async function* linesIn(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<ByteLine> {
  let number = 0;
  let read = 0;
  let parts: Uint8Array[] = [];
  let length = 0;

  function line(end: number): ByteLine {
    const bytes = parts.length === 1 ? parts[0]! : joined(parts, length);
    parts = [];
    length = 0;
    return { number: ++number, bytes, end };
  }

  for await (const chunk of stream) {
    let start = 0;
    for (let at; (at = chunk.indexOf(NEWLINE, start)) >= 0; start = at + 1) {
      parts.push(chunk.subarray(start, at));
      length += at - start;
      yield line(read + at + 1);
    }
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    read += chunk.length;
    if (length > MOST_BYTES) {
      throw new Error(`Line ${number + 1} is too long to be a record`);
    }
  }
  if (length > 0) yield line(read);
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
