/** What one run of a load generator showed; times in milliseconds. */
export interface Load {
  /** How many were answered, and the rate of those that count. */
  requests: number;
  rate: number;
  p50: number;
  p99: number;
  max: number;
}

/** What became of the same measurement in several rounds: of each figure the middle one. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2
    ? sorted[middle]!
    : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
