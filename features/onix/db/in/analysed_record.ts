import { catchDefect } from "../../../../schema/defects.ts";
import { copied } from "../../../../schema/excerpt.ts";
import { readRecord, type RecordContent, type Rejected } from "../../schema/doors/incoming.ts";
import { notSentOf } from "../../schema/doors/outgoing.ts";
import type { Message } from "../../schema/report/message.ts";
import type { Outcome } from "../../schema/report/report.ts";
import type { Notification } from "../../schema/rules/notifications.ts";
import type { Paths } from "../../schema/xml/paths.ts";
import type { IncomingRecord } from "./incoming_record.ts";
import { FAILED } from "./record_messages.ts";
import { type StoredForm, storedForm } from "./stored_form.ts";

/*
 * The records of a message, and a cache of their analyses. Analysing a record takes most of the time
 * of an import, and depends on nothing that is stored. So the analysis is stored with the record of
 * the product, under a key that is the hash of its inputs. A record with the same key is not read
 * again until its values are needed.
 *
 * A file is sent twice: the second time, each record is found in the cache, and its product is
 * `unchanged`.
 */

/** The analysis of a record, without its values: all that an unchanged record needs. */
export interface Analysis {
  reference: string;
  notification: Notification;
  isbn13: string | null;
  isbn10: string | null;
  /** Its form (List 150), if it has one. */
  form: string | null;
  messages: Message[];
  /** The number of warnings that are left out. */
  moreMessages: number;
  /** The data elements that no field holds. */
  unmapped: Paths;
  /** The paths that no message of release 3.1 has. */
  notSent: Paths;
  /** The hash of the record to store. */
  digest: string;
}

/** Cached analyses by their keys. Each is the text of its key, followed by the analysis as JSON. */
export type CachedAnalyses = ReadonlyMap<string, string>;

/** Returns the key of a cached analysis. */
export function keyOfCached(cachedAnalysis: string): string {
  return cachedAnalysis.slice(0, cachedAnalysis.indexOf("{"));
}

/** The longest analysis that is cached, in characters. Those of real records have a thousand. */
const MAX_ANALYSIS = 32 * 1024;

/** A record of a message that can be written. */
export class AnalysedRecord {
  readonly incomingRecord: IncomingRecord;
  readonly analysis: Analysis;
  /** The analysis as it is cached with the record. Null: the record is read each time. */
  readonly cachedAnalysis: string | null;
  /** Whether the analysis comes from the cache. */
  readonly isCached: boolean;
  /** The other reference under which an earlier record of the message has the same ISBN. */
  rival?: string | undefined;
  #content: RecordContent | undefined;
  #form: StoredForm | undefined;

  constructor(
    incomingRecord: IncomingRecord,
    analysis: Analysis,
    cachedAnalysis: string | null,
    read?: { content: RecordContent; form: StoredForm },
  ) {
    this.incomingRecord = incomingRecord;
    this.analysis = analysis;
    this.cachedAnalysis = cachedAnalysis;
    this.isCached = read === undefined;
    this.#content = read?.content;
    this.#form = read?.form;
  }

  /** The record with its values. If its analysis comes from the cache, it is read now. */
  get content(): RecordContent {
    return this.#content ??= readAgain(this.incomingRecord);
  }

  /** The form in which the record is stored. */
  get form(): StoredForm {
    return this.#form ??= storedForm(this.content.record);
  }
}

/** Reads a record, unless its analysis is cached. */
export function analyse(
  incomingRecord: IncomingRecord,
  cached: CachedAnalyses,
): AnalysedRecord | Rejected {
  const known = cached.get(incomingRecord.analysisKey);
  if (known) {
    return new AnalysedRecord(
      incomingRecord,
      JSON.parse(known.slice(incomingRecord.analysisKey.length)),
      known,
    );
  }
  return catchDefect(
    () => analyseAnew(incomingRecord),
    () => ({
      kind: "rejected",
      reference: incomingRecord.reference,
      line: incomingRecord.line,
      messages: [FAILED],
      moreMessages: 0,
    }),
  );
}

function analyseAnew(incomingRecord: IncomingRecord): AnalysedRecord | Rejected {
  const content = readRecord(incomingRecord.product, incomingRecord.header);
  if (content.kind === "rejected") return content;
  const form = storedForm(content.record);
  const analysis = copied(analysisOf(content, form));
  const cachedAnalysis = incomingRecord.analysisKey + JSON.stringify(analysis);
  // A message about a header is reported once, with the first record.
  const isStored = !content.reportsOnHeader && cachedAnalysis.length <= MAX_ANALYSIS;
  return new AnalysedRecord(incomingRecord, analysis, isStored ? cachedAnalysis : null, {
    content,
    form,
  });
}

function analysisOf(content: RecordContent, { digest }: StoredForm): Analysis {
  const { reference, notification, isbn13, isbn10, values } = content;
  const { messages, moreMessages, unmapped, record } = content;
  return {
    reference,
    notification,
    isbn13,
    isbn10,
    form: values.product_form as string | undefined ?? null,
    messages,
    moreMessages,
    unmapped: pathsAlone(unmapped),
    notSent: pathsAlone(notSentOf(record, "3.1")),
    digest,
  };
}

function pathsAlone({ paths, more }: Paths): Paths {
  return { paths, more };
}

function readAgain({ product, header }: IncomingRecord): RecordContent {
  const content = readRecord(product, header);
  if (content.kind === "rejected") throw new TypeError("A record that was read is rejected");
  return content;
}

/** Returns the outcome of a record, with the messages of its analysis and more. */
export function outcomeOf(
  { incomingRecord: { line }, analysis: { reference, messages } }: AnalysedRecord,
  outcome: Outcome["outcome"],
  id: string | null,
  ...more: Outcome["messages"]
): Outcome {
  return {
    record_reference: reference,
    line,
    id,
    outcome,
    messages: [...messages, ...more],
  };
}
