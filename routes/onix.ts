import { recordOf } from "../db/onix/books.ts";
import { changedRecord, listOnixChanges, type OnixChange } from "../db/onix/changes.ts";
import { ImportEnded } from "../db/import_ended.ts";
import { importMessage } from "../db/onix/import.ts";
import { messageText, readSender } from "../db/onix/message.ts";
import { getSource } from "../db/onix/record_source.ts";
import { pause } from "../db/connections/deadline.ts";
import { etagOf } from "../db/entity_tag.ts";
import { openXml } from "../middleware/body.ts";
import { isNotModified, prefersXml } from "../middleware/conditional.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import type { Admitted } from "../middleware/guard.ts";
import { toApiError } from "../middleware/respond.ts";
import { cursorText } from "../schema/changes_query.ts";
import { ApiError } from "../schema/errors.ts";
import { type Acknowledged, writeAcknowledgement } from "../schema/onix/report/acknowledgement.ts";
import type { Report } from "../schema/onix/report/report.ts";
import type { Element } from "../schema/onix/xml/element.ts";
import { readMessage } from "../schema/onix/xml/read.ts";
import { XmlError } from "../schema/onix/xml/xml_error.ts";
import type { Release } from "../schema/onix/rules/releases.ts";
import type { ImportQuery, OnixChangesQuery, OnixQuery } from "../schema/onix/query.ts";
import { ok } from "./responses.ts";
import { importError, streamImport } from "./streamed_import.ts";

/* The handlers of products in ONIX for Books. */

/** `GET /onix/products/{id}`: a message with the record of a product. */
export async function get(
  context: Admitted<OnixQuery>,
): Promise<HandlerResponse> {
  const { database, params, query, request, shares } = context;
  const { source, etag: tag } = await getSource(database, params.id);
  const etag = etagOf([tag, query.release, query.tags].join("\n"));
  if (isNotModified(request, etag)) return { status: 304, headers: { etag } };
  const form = { ...query, sender: source };
  const { record } = await shares.parsing.run(
    context,
    () => recordOf(source, query.release),
  );
  return xml(await messageText(form, [record]), { etag });
}

/** `GET /onix/products`: a message with the next changes of the feed. */
export async function list(
  { database, query, url, shares, caller }: Admitted<OnixChangesQuery>,
): Promise<HandlerResponse> {
  const { release, tags } = query;
  const sender = await readSender(database);
  const { changes, cursor } = await listOnixChanges(database, query);
  const next = new URLSearchParams(url.searchParams);
  next.set("after", cursorText(cursor));
  const pace = shares.parsing.pacer(caller);
  const records = recordsOf(changes, release, pace);
  return xml(await messageText({ release, tags, sender }, records), {
    link: `<${url.pathname}?${next}>; rel="next"`,
  });
}

async function* recordsOf(
  changes: readonly OnixChange[],
  release: Release,
  pace: () => Promise<void>,
): AsyncGenerator<Element> {
  for (const change of changes) {
    await pace();
    const record = changedRecord(change, release);
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
    const { chunks, charset } = openXml(context);
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

/** How many records of an import had which outcome, for its log line. */
function recordCounts(report: Report): Record<string, number> {
  const { created, updated, unchanged, deleted, rejected, warnings } = report;
  return { created, updated, unchanged, deleted, rejected, warnings };
}

/** The records that are acknowledged before other requests run. */
const RECORDS_AT_ONCE = 100;

/**
 * The report as an acknowledgement. Other requests run in between. It waits for nobody,
 * which might fail: the records are written, so the client must learn of them.
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
