import type { ApiError } from "../../../../schema/errors.ts";
import { excerpt } from "../../../../schema/excerpt.ts";
import { MAX_ROW } from "../file.ts";
import { type Archive, damaged, tooLarge, unsupported } from "./archive.ts";
import { type Format, formatOf } from "./days.ts";
import type { SharedStrings } from "./strings.ts";
import { type Attributes, isStringText, readAll, unescaped } from "./xml.ts";
import type { Pace } from "../../../../schema/turns.ts";

/* Opens a workbook: finds its sheets, formats and shared texts. */

export interface Book {
  /** The part of the sheet that is read, and its name. */
  part: string;
  name: string;
  /** The names of the other sheets. */
  others: string[];
  strings: SharedStrings;
  /** The styles of cells that show something else than their number. */
  styles: ReadonlyMap<number, Format>;
  /** Whether days are counted from 1904, as programs of the Macintosh did. */
  isFrom1904: boolean;
}

interface SheetEntry {
  name: string;
  state: string;
  id: string;
}

/** The maximum number of sheets, formats and styles: more than programs allow. */
const MAX_SHEETS = 10_000;
const MAX_STYLES = 70_000;

/** The most characters of an attribute that is kept, such as the name of a sheet or the path of a part. */
const MAX_KEPT = 1_000;

/** Attributes that are kept. Throws if one is so long that many of them would fill the memory. */
function kept(attributes: Attributes): Attributes {
  for (const [name, { length }] of Object.entries(attributes)) {
    if (length > MAX_KEPT) throw damaged(`An attribute "${name}" is too long`);
  }
  return attributes;
}

/** Opens a workbook: finds its sheet, and reads its formats and texts. */
export async function openBook(
  archive: Archive,
  strings: SharedStrings,
  pace: Pace,
): Promise<Book> {
  const main = await mainPart(archive, pace);
  const { sheets, isFrom1904 } = await readSheets(archive, main, pace);
  const links = await readLinks(archive, main, pace);
  const readable = sheets.filter(({ id }) => links.get(id)?.type === "worksheet");
  const sheet = readable.find(({ name }) => name.trim().toLowerCase() === "products") ??
    readable.find(({ state }) => state === "visible") ?? readable[0];
  if (!sheet) throw damaged("It has no sheet");
  const others = readable.filter((one) => one !== sheet).map(({ name }) =>
    `"${excerpt(name, 50)}"`
  );
  const partOf = (type: string) => links.values().find((link) => link.type === type)?.target;
  return {
    part: links.get(sheet.id)!.target,
    name: excerpt(sheet.name, 50),
    others,
    isFrom1904,
    strings: await readStrings(archive, partOf("sharedStrings"), strings, pace),
    styles: await readStyles(archive, partOf("styles"), pace),
  };
}

/** The main part. Throws `UNSUPPORTED_MEDIA_TYPE` for an archive of something else. */
async function mainPart(archive: Archive, pace: Pace): Promise<string> {
  if (archive.has("mimetype") && archive.has("content.xml")) {
    throw unsupported("The file is a document of LibreOffice (.ods)");
  }
  if (archive.has("xl/workbook.bin")) throw unsupported("The file is a binary workbook (.xlsb)");
  if (!archive.has("_rels/.rels")) throw noWorkbook();
  const links = await readLinks(archive, "", pace);
  const { target } = links.values().find(({ type }) => type === "officeDocument") ?? {};
  if (!target) throw noWorkbook();
  if (target.endsWith(".bin")) throw unsupported("The file is a binary workbook (.xlsb)");
  return target;
}

/** The error of an archive of something else, such as a document of Word. */
function noWorkbook(): ApiError {
  return unsupported("The file is no Excel workbook");
}

interface Link {
  /** The last word of its type, such as `worksheet`. */
  type: string;
  target: string;
}

/** The links of a part, "" for the archive, by their ids. External ones are not followed. */
async function readLinks(
  archive: Archive,
  part: string,
  pace: Pace,
): Promise<Map<string, Link>> {
  const [, folder = "", file = ""] = /^(.*\/)?([^/]*)$/.exec(part) ?? [];
  const links = new Map<string, Link>();
  await readAll(archive, `${folder}_rels/${file}.rels`, {
    begin(path, attributes) {
      if (path.at(-1) !== "Relationship" || attributes.TargetMode === "External") return;
      if (links.size >= MAX_SHEETS) throw damaged("It has too many links");
      const { Id = "", Type = "", Target = "" } = kept(attributes);
      links.set(Id, {
        type: Type.slice(Type.lastIndexOf("/") + 1),
        target: resolved(folder, Target),
      });
    },
  }, pace);
  return links;
}

/** The part that a target names, relative to a folder. */
function resolved(folder: string, target: string): string {
  const base = `http://archive/${folder}`;
  if (!URL.canParse(target, base)) return target;
  const { pathname } = new URL(target, base);
  try {
    return decodeURIComponent(pathname.slice(1));
  } catch {
    return pathname.slice(1);
  }
}

async function readSheets(
  archive: Archive,
  main: string,
  pace: Pace,
): Promise<{ sheets: SheetEntry[]; isFrom1904: boolean }> {
  const sheets: SheetEntry[] = [];
  let isFrom1904 = false;
  await readAll(archive, main, {
    begin(path, attributes) {
      const element = path.at(-1);
      if (path.length === 1 && element !== "workbook") throw noWorkbook();
      if (element === "workbookPr") isFrom1904 = /^(?:1|true)$/.test(attributes.date1904 ?? "");
      if (element !== "sheet" || path.at(-2) !== "sheets") return;
      if (sheets.length >= MAX_SHEETS) throw damaged("It has too many sheets");
      const { name = "", state = "visible" } = kept(attributes);
      sheets.push({ name, state, id: linkIn(attributes) });
    },
  }, pace);
  return { sheets, isFrom1904 };
}

/** The id of a link: the attribute `id` with the prefix of relationships, whatever that is. */
function linkIn(attributes: Attributes): string {
  const [, id = ""] = Object.entries(attributes).find(([name]) => /:id$/.test(name)) ?? [];
  return id;
}

async function readStrings(
  archive: Archive,
  part: string | undefined,
  strings: SharedStrings,
  pace: Pace,
): Promise<SharedStrings> {
  if (!part || !archive.has(part)) return strings;
  let text = "";
  await readAll(archive, part, {
    text(path, piece) {
      if (!isStringText(path)) return;
      text += piece;
      // A text may be in any number of runs.
      if (text.length > MAX_ROW) throw tooLarge(`A text has at most ${MAX_ROW} characters`);
    },
    end(path) {
      if (path.at(-1) !== "si") return;
      strings.add(unescaped(text));
      text = "";
    },
  }, pace);
  return strings;
}

async function readStyles(
  archive: Archive,
  part: string | undefined,
  pace: Pace,
): Promise<Map<number, Format>> {
  const styles = new Map<number, Format>();
  if (!part || !archive.has(part)) return styles;
  // Only what they show is kept, because the texts would fill the memory.
  const own = new Map<number, Format | undefined>();
  const formats: number[] = [];
  await readAll(archive, part, {
    begin(path, { numFmtId, formatCode = "" }) {
      const element = path.at(-1);
      // Conditional formats have formats of their own, with other numbers.
      if (element === "numFmt" && path.at(-2) === "numFmts" && own.size < MAX_STYLES) {
        own.set(Number(numFmtId), formatOf(Number(numFmtId), formatCode));
      }
      if (element === "xf" && path.at(-2) === "cellXfs" && formats.length < MAX_STYLES) {
        formats.push(Number(numFmtId ?? 0));
      }
    },
  }, pace);
  for (const [index, id] of formats.entries()) {
    const format = own.has(id) ? own.get(id) : formatOf(id, undefined);
    if (format) styles.set(index, format);
  }
  return styles;
}
