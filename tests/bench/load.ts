/** The result of one run of a load generator; times in milliseconds. */
export interface Load {
  /** All requests; the rate is that of those after the warm-up. */
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
