import { MAX_COLUMNS } from "../columns.ts";
import { type Archive, damaged } from "./archive.ts";
import { readText } from "./xml.ts";
import type { Pace } from "../../../../schema/turns.ts";

/*
 * Finds merged cells, of which only the first has a value. In a merge of A2 to A5, A2 has it, and
 * the others are covered. A sheet lists merges after its rows, so its end is read first.
 */

/** The most ranges of merged cells. */
const MAX_MERGES = 65_536;

interface Range {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

/** The merged cells of a sheet. */
export class Merges {
  readonly #ranges: readonly Range[];

  constructor(ranges: readonly Range[]) {
    this.#ranges = ranges.toSorted((a, b) => a.top - b.top);
  }

  /**
   * Returns a function that decides whether a cell is covered by a range that begins elsewhere. It
   * must be called in the order of lines.
   */
  rows(): (line: number, column: number) => boolean {
    const ranges = this.#ranges;
    if (ranges.length === 0) return () => false;
    let next = 0;
    /** By column, the last line of the ranges that begin on the present line or before it. */
    const coveredTo = new Uint32Array(MAX_COLUMNS);
    /** The columns in which a range begins on the present line. */
    let begun = new Set<number>();
    let now = 0;
    return (line, column) => {
      if (line > now) {
        now = line;
        const first = next;
        while (next < ranges.length && ranges[next]!.top <= line) next++;
        const added = ranges.slice(first, next);
        begun = new Set(added.filter(({ top }) => top === line).map(({ left }) => left));
        cover(coveredTo, added);
      }
      if (column >= MAX_COLUMNS || coveredTo[column]! < line) return false;
      return !begun.has(column);
    };
  }
}

/**
 * Records the cells that ranges cover. They may all overlap, so only the lowest range of each
 * column is recorded.
 */
function cover(coveredTo: Uint32Array, ranges: readonly Range[]): void {
  if (ranges.length === 0) return;
  /** By column, a column from which on this one and those between are noted. */
  const free = Uint32Array.from({ length: MAX_COLUMNS + 1 }, (_, at) => at);
  for (const { left, right, bottom } of ranges.toSorted((a, b) => b.bottom - a.bottom)) {
    for (let at = left; at <= right;) {
      const end = free[at]!;
      if (end === at) coveredTo[at] = Math.max(coveredTo[at]!, bottom);
      free[at] = Math.max(end, right + 1);
      at = Math.max(end, at + 1);
    }
  }
}

const END_OF_ROWS = /<\/(?:[\w.-]+:)?sheetData\s*>|<(?:[\w.-]+:)?sheetData\s*\/>/g;
const MERGE =
  /<(?:[\w.-]+:)?mergeCell\s[^<>]{0,200}?\bref\s*=\s*["']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})["']/g;

/** The most characters of a tag that is looked for. */
const MAX_TAG = 300;

/** Reads the merged cells of a sheet, without parsing its rows. */
export async function readMerges(
  archive: Archive,
  part: string,
  pace: Pace,
): Promise<Merges> {
  const ranges: Range[] = [];
  let rest = "";
  let isAfterRows = false;
  for await (const piece of readText(archive, part)) {
    await pace();
    let text = rest + piece;
    if (!isAfterRows) {
      const end = text.search(END_OF_ROWS);
      if (end >= 0) {
        isAfterRows = true;
        text = text.slice(end);
      }
    }
    let from = 0;
    if (isAfterRows) {
      for (const match of text.matchAll(MERGE)) {
        const [tag, left, top, right, bottom] = match;
        if (ranges.length === MAX_MERGES) throw damaged("It has too many merged cells");
        ranges.push(rangeOf(left!, top!, right!, bottom!));
        from = match.index + tag.length;
      }
    }
    rest = text.slice(Math.max(from, text.length - MAX_TAG));
  }
  return new Merges(ranges);
}

function rangeOf(left: string, top: string, right: string, bottom: string): Range {
  return {
    left: Math.min(numberOf(left), MAX_COLUMNS),
    top: Number(top),
    right: Math.min(numberOf(right), MAX_COLUMNS - 1),
    bottom: Number(bottom),
  };
}

function numberOf(letters: string): number {
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
