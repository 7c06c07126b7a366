/** The result of one run of a load generator. Times are in milliseconds. */
export interface Load {
  /** The number of all requests. The rate excludes the warm-up. */
  requests: number;
  rate: number;
  p50: number;
  p99: number;
  max: number;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2
    ? sorted[middle]!
    : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
