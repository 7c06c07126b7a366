import { ZipWriter } from "@zip.js/zip.js/lib/zip-core-native.js";
import { type Cell, textOf } from "../cell.ts";
import { MAX_CELL, TOO_LONG } from "../cells.ts";
import type { RowWriter } from "../file.ts";

/*
 * Writes rows as an Excel workbook, as they come. Texts are text cells, also ISBNs, codes and days,
 * so that no program rounds them or takes them for dates.
 */

/** Writes rows as a workbook with one sheet. */
export const writeWorkbook: RowWriter = async function* (groups) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const out = writable.getWriter();
  const writing = writeParts(
    new WritableStream({ write: (chunk) => out.write(chunk), close: () => out.close() }),
    groups,
  );
  // The error of a row ends the reading, which throws it.
  writing.catch((error) => out.abort(error).catch(() => {}));
  yield* readable;
  await writing;
};

async function writeParts(
  writable: WritableStream<Uint8Array>,
  groups: AsyncIterable<Cell[][]>,
): Promise<void> {
  const zip = new ZipWriter(writable, {
    useWebWorkers: false,
    extendedTimestamp: false,
    // Programs of spreadsheets do not read zip64 of a stream, and no sheet is that large.
    zip64: false,
  });
  for (const [name, text] of Object.entries(FIXED_PARTS)) {
    await zip.add(name, ReadableStream.from([encode(PROLOG + text)]));
  }
  await zip.add("xl/worksheets/sheet1.xml", ReadableStream.from(sheetXml(groups)));
  await zip.close();
}

const encoder = new TextEncoder();

function encode(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The number of rows that decide the width of columns, since the others are not read yet. */
const MEASURED_ROWS = 500;
const MEASURED_LENGTH = 2 ** 20;

/** The XML of the sheet. It has the widths of columns before the rows. */
async function* sheetXml(groups: AsyncIterable<Cell[][]>): AsyncGenerator<Uint8Array> {
  const widths: number[] = [];
  let measured: Cell[][] = [];
  let length = 0;
  let isBegun = false;
  let line = 0;
  let columns = 0;
  const begin = () => {
    isBegun = true;
    const xml = headXml(widths) + measured.map((cells) => rowXml(cells, ++line)).join("");
    measured = [];
    return encode(xml);
  };
  for await (const rows of groups) {
    if (isBegun) {
      yield encode(rows.map((cells) => rowXml(cells, ++line)).join(""));
      continue;
    }
    for (const cells of rows) {
      columns = Math.max(columns, cells.length);
      for (const [i, cell] of cells.entries()) {
        const text = cellText(cell);
        length += text.length;
        widths[i] = Math.max(widths[i] ?? 0, widthOf(text));
      }
      measured.push(cells);
    }
    if (measured.length >= MEASURED_ROWS || length >= MEASURED_LENGTH) yield begin();
  }
  if (!isBegun) yield begin();
  const end = `${letters(Math.max(columns, 1))}${Math.max(line, 1)}`;
  yield encode(`</sheetData><autoFilter ref="A1:${end}"/></worksheet>`);
}

/** The most characters of a column's width. */
const MAX_WIDTH = 60;

/** The width of a text: that of its longest line. */
function widthOf(text: string): number {
  let width = 0;
  for (let from = 0; from < text.length && width < MAX_WIDTH;) {
    const end = text.indexOf("\n", from);
    width = Math.max(width, (end < 0 ? text.length : end) - from);
    if (end < 0) break;
    from = end + 1;
  }
  return Math.min(width, MAX_WIDTH);
}

function headXml(widths: readonly number[]): string {
  const cols = widths.map((width, i) =>
    `<col min="${i + 1}" max="${i + 1}" width="${width + 2}" customWidth="1"/>`
  ).join("");
  return `${PROLOG}<worksheet xmlns="${MAIN}"><sheetViews><sheetView tabSelected="1" workbookViewId="0">` +
    `<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` +
    `${cols && `<cols>${cols}</cols>`}<sheetData>`;
}

/** The styles of cells, as `styles.xml` has them. */
const BOLD = 1;
const TEXT = 2;

function rowXml(cells: readonly Cell[], line: number): string {
  const style = line === 1 ? BOLD : TEXT;
  const inner = cells.map((cell, i) => cellXml(cell, `${letters(i + 1)}${line}`, style)).join("");
  return `<row r="${line}">${inner}</row>`;
}

function cellXml(cell: Cell, reference: string, style: number): string {
  const text = cellText(cell);
  if (text === "") return "";
  const kind = typeof cell === "string" ? "text" : cell.kind;
  if (kind === "number" && isExact(text)) return `<c r="${reference}"><v>${text}</v></c>`;
  if (kind === "boolean") return `<c r="${reference}" t="b"><v>${text === "true" ? 1 : 0}</v></c>`;
  return `<c r="${reference}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${
    escaped(text)
  }</t></is></c>`;
}

/** Whether a program keeps all digits of a number: 15. One with more is a text. */
function isExact(number: string): boolean {
  return number.replace(/^-?0*\.?0*|\./g, "").length <= 15;
}

/** The text that a cell can hold. */
function cellText(cell: Cell): string {
  const text = textOf(cell);
  return text.length > MAX_CELL ? TOO_LONG : text;
}

/** Characters that XML cannot contain, and texts that look like the escape of one. */
// deno-lint-ignore no-control-regex
const SPECIAL = /[&<>\0-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[\da-fA-F]{4}_)/g;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** A text in XML. Other characters than XML has become `_xHHHH_` (ECMA-376, part 1, 22.9.2.19). */
function escaped(text: string): string {
  return text.replace(
    SPECIAL,
    (sign) =>
      ENTITIES[sign] ?? `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`,
  );
}

const LETTERS: string[] = [];

/** The letters of a column, from 1: A, B, …, AA. */
function letters(column: number): string {
  return LETTERS[column] ??= column > 26
    ? letters(Math.floor((column - 1) / 26)) + letters((column - 1) % 26 + 1)
    : String.fromCharCode(64 + column);
}

const PROLOG = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml";

/** The parts that every workbook has. */
const FIXED_PARTS: Readonly<Record<string, string>> = {
  "[Content_Types].xml": `<Types xmlns="${PACKAGE}/content-types">` +
    `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/>` +
    `<Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPES}.worksheet+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/></Types>`,
  "_rels/.rels": `<Relationships xmlns="${PACKAGE}/relationships">` +
    `<Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  "xl/workbook.xml": `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}">` +
    `<bookViews><workbookView/></bookViews>` +
    `<sheets><sheet name="Products" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${PACKAGE}/relationships">` +
    `<Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
  "xl/styles.xml": `<styleSheet xmlns="${MAIN}">` +
    `<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>` +
    `<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
    `<fills count="2"><fill><patternFill patternType="none"/></fill>` +
    `<fill><patternFill patternType="gray125"/></fill></fills>` +
    `<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
    `<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
    `<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
    `<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>` +
    `<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>` +
    `<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
};
