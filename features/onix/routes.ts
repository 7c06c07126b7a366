import { textOf } from "./db/out/books.ts";
import { listOnixChanges, type OnixChange } from "./db/out/changes.ts";
import { ImportEnded } from "../../db/import_ended.ts";
import { importMessage } from "./db/in/import.ts";
import { messageText, readSender } from "./db/out/message.ts";
import { OutgoingRecords } from "./db/out/outgoing_records.ts";
import { getOnixRecord, senderText } from "./db/out/record_source.ts";
import { pause } from "../../db/connections/deadline.ts";
import { etagOf } from "../../db/entity_tag.ts";
import { openText } from "../../middleware/body.ts";
import { isNotModified, prefersXml } from "../../middleware/conditional.ts";
import type { HandlerResponse } from "../../middleware/context.ts";
import type { Admitted } from "../../middleware/guard.ts";
import { toApiError } from "../../middleware/failure.ts";
import { withView } from "../changes/db/view_page.ts";
import { countsAsFetch, cursorText } from "../changes/schema.ts";
import { ApiError } from "../../schema/errors.ts";
import { type Acknowledged, writeAcknowledgement } from "./schema/report/acknowledgement.ts";
import type { Report } from "./schema/report/report.ts";
import type { Element } from "./schema/xml/element.ts";
import { readMessage } from "./schema/xml/read.ts";
import { XmlError } from "./schema/xml/xml_error.ts";
import type { ImportQuery, OnixChangesQuery, OnixQuery } from "./schema/query.ts";
import { ok } from "../../middleware/responses.ts";
import { importError, streamImport } from "../../middleware/streamed_import.ts";
import { inTurns, type Pace } from "../../schema/turns.ts";

/* The handlers of products in ONIX for Books. */

/** The media types of ONIX messages. The charset may be any that the reader knows. */
const XML_MEDIA_TYPE =
  /^(?:application|text)\/xml[ \t]*(?:;[ \t]*(?:[\w-]+=(?:"[^"]*"|[^;"\s]+)[ \t]*)?)*$/i;

const XML = { known: XML_MEDIA_TYPE, name: "application/xml or text/xml" };

/** `GET /onix/products/{id}`: a message with the record of a product. */
export async function get(
  context: Admitted<OnixQuery>,
): Promise<HandlerResponse> {
  const { database, params, query: { release, tags }, request, shares, caller, view } = context;
  const form = { release, tags };
  // A recipient with a view gets a record of its own.
  const { record, sender, etag: tag } = await getOnixRecord(
    database,
    params.id,
    view ? { view } : { form },
  );
  const pace = shares.parsing.pacer(caller);
  const write = async () => {
    if (typeof record === "string") return record;
    await pace();
    return await inTurns(textOf(record, form, view), pace);
  };
  // What a recipient does not see must not show in the tag either.
  const seen = view && await write();
  const shown = seen ? [seen, senderText(sender)] : [tag];
  const etag = etagOf([...shown, release, tags].join("\n"));
  if (isNotModified(request, etag)) return { status: 304, headers: { etag } };
  const text = await messageText({ ...form, sender }, [seen ?? await write()]);
  return xml(text, { etag });
}

/** `GET /onix/products`: a message with the next changes of the feed. */
export async function list(
  { database, query, url, shares, caller, view }: Admitted<OnixChangesQuery>,
): Promise<HandlerResponse> {
  const { release, tags } = query;
  const form = { release, tags };
  const sender = await readSender(database);
  const { changes, cursor, seen } = await withView(
    database,
    view,
    countsAsFetch(caller, query),
    async (followed) => ({
      ...await listOnixChanges(database, { ...query, form }, followed),
      seen: followed?.view,
    }),
  );
  const next = new URLSearchParams(url.searchParams);
  next.set("after", cursorText(cursor));
  const pace = shares.parsing.pacer(caller);
  const outgoing = new OutgoingRecords(form, seen);
  const message = await messageText({ ...form, sender }, recordsOf(changes, outgoing, pace));
  outgoing.store(database);
  return xml(message, {
    link: `<${url.pathname}?${next}>; rel="next"`,
  });
}

async function* recordsOf(
  changes: readonly OnixChange[],
  outgoing: OutgoingRecords,
  pace: Pace,
): AsyncGenerator<Element | string> {
  for (const change of changes) {
    await pace();
    const record = await inTurns(outgoing.of(change), pace);
    if (record) yield record;
  }
}

/**
 * `POST /onix/products`: imports a message as it arrives, as long as the credentials are
 * valid.
 */
export async function write(
  context: Admitted<ImportQuery>,
): Promise<HandlerResponse> {
  const { request, query, log } = context;
  return await streamImport(context, async ({ queries, pace, admit }) => {
    const { chunks, charset } = openText(context, XML, "INVALID_XML");
    const sender = prefersXml(request) ? (await readSender(queries())).organization : undefined;
    const message = readMessage(chunks, { charset, pace });
    const { report, warned } = await importMessage(queries, message, {
      dryRun: query.dry_run,
      edits: query.edits,
      stale: query.stale,
      pace,
      admit,
    }).catch((error) => {
      if (!(error instanceof ImportEnded)) throw error;
      log.records = recordCounts(error.report);
      throw errorOfEnd(error);
    });
    log.records = recordCounts(report);
    return sender === undefined
      ? ok(JSON.stringify(report))
      : xml(await acknowledgementOf(report, { sender, sentAt: new Date(), warned }));
  });
}

/** Counts the records of an import by outcome, for the log line. */
function recordCounts(report: Report): Record<string, number> {
  const { created, updated, unchanged, deleted, rejected, warnings } = report;
  return { created, updated, unchanged, deleted, rejected, warnings };
}

/** The records that are acknowledged before other requests run. */
const RECORDS_AT_ONCE = 100;

/**
 * Returns the report as an acknowledgement. Other requests run in between. It waits for no queue,
 * which might fail: the records are written, so the client must get the report.
 */
async function acknowledgementOf(
  report: Report,
  message: Acknowledged,
): Promise<string> {
  const parts: string[] = [];
  for (const part of writeAcknowledgement(report, message)) {
    parts.push(part);
    if (parts.length % RECORDS_AT_ONCE === 0) await pause(1);
  }
  return parts.join("");
}

/** The error of an import that has ended early: that of its message, or of the service. */
function errorOfEnd({ cause, report }: ImportEnded<Report>): ApiError {
  const error = cause instanceof XmlError ? invalidXml(cause) : toApiError(cause);
  return importError(error, cause, report.records > 0 ? report : undefined);
}

function invalidXml({ code, message, line, column }: XmlError): ApiError {
  return new ApiError("INVALID_XML", `The message cannot be read: ${message}`, {
    details: [{ pointer: "", code, message, line, column }],
  });
}

function xml(
  body: string,
  headers: HandlerResponse["headers"] = {},
): HandlerResponse {
  const type = { "content-type": "application/xml; charset=utf-8" };
  return { status: 200, body, headers: { ...type, ...headers } };
}
