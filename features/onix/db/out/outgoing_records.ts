import type { MessageForm } from "../../schema/rules/releases.ts";
import { catchDefectInTurns } from "../../../../schema/defects.ts";
import { deletionRecord } from "../../schema/doors/outgoing.ts";
import { ownReference } from "../../schema/mapping/own_reference.ts";
import type { Element } from "../../schema/xml/element.ts";
import type { FeedQueries } from "../../../changes/db/feed.ts";
import type { InTurns } from "../../../../schema/turns.ts";
import type { View } from "../../../../schema/view.ts";
import { textOf } from "./books.ts";
import type { OnixChange } from "./changes.ts";
import { type RecordText, storeTexts } from "./stored_texts.ts";

/*
 * Records of changes as they are sent: deletions, stored texts, and texts that are written now and
 * stored for the next message.
 */

/** The records of changes in a form of message. */
export class OutgoingRecords {
  readonly #form: MessageForm;
  readonly #view: View | undefined;
  #written: RecordText[] = [];

  /** Without a view, the records are those that all callers without one get. */
  constructor(form: MessageForm, view: View | undefined) {
    this.#form = form;
    this.#view = view;
  }

  /**
   * Returns the record of a change as it is sent. If the service fails to write it, returns
   * undefined, and the log names the product; other records are sent.
   */
  of(change: OnixChange): InTurns<Element | string | undefined> {
    return catchDefectInTurns(this.#record(change), () => undefined, change.id);
  }

  *#record(change: OnixChange): InTurns<Element | string> {
    const { id, reference } = change;
    if (change.source) {
      const text = yield* textOf(change.source, this.#form, this.#view);
      if (change.key !== null) this.#written.push({ id, key: change.key, record: text });
      return text;
    }
    if (change.stored !== null) return change.stored;
    return deletionRecord({ ...change, reference: reference ?? ownReference(id) });
  }

  /** Stores the texts that were written since the last call. */
  store(database: Pick<FeedQueries, "inBackground">): void {
    const statements = storeTexts(this.#form, this.#written);
    this.#written = [];
    if (statements.length > 0) database.inBackground(() => statements);
  }
}
