import { guarded } from "../../schema/defects.ts";
import { type Incoming, readRecord, type Rejected } from "../../schema/onix/mapping/incoming.ts";
import { notSentOf } from "../../schema/onix/mapping/outgoing.ts";
import type { Message } from "../../schema/onix/report/message.ts";
import type { Outcome } from "../../schema/onix/report/report.ts";
import type { Notification } from "../../schema/onix/rules/notifications.ts";
import type { Paths } from "../../schema/onix/xml/paths.ts";
import type { Arrived } from "./arrived.ts";
import { FAILED } from "./record_messages.ts";
import { type StoredForm, storedForm } from "./stored_form.ts";

/*
 * The records of a message. Reading one takes most of the time of an import, and depends on
 * nothing that is stored. So what it has found out, the gist, is stored behind a key, which is
 * the hash of all that decides it: the same record is not read again until its values are needed.
 */

/** What reading a record has found out, without its values: all that an unchanged one needs. */
export interface Gist {
  reference: string;
  notification: Notification;
  isbn13: string | null;
  isbn10: string | null;
  /** Its form (List 150), if it has one. */
  form: string | null;
  messages: Message[];
  /** How many warnings are left out. */
  moreMessages: number;
  /** The data elements that no field holds. */
  unmapped: Paths;
  /** The paths that no message of release 3.1 has. */
  notSent: Paths;
  /** The hash of the record to store. */
  digest: string;
}

/** Stored gists by their keys: each is the text of its key, and behind that its JSON. */
export type StoredGists = ReadonlyMap<string, string>;

/** The key of a stored gist. */
export function keyOfGist(storedGist: string): string {
  return storedGist.slice(0, storedGist.indexOf("{"));
}

/** The longest gist that is stored, in characters. Those of real records have a thousand. */
const MAX_GIST = 32 * 1024;

/** A record of a message that can be written. */
export class Item {
  readonly arrived: Arrived;
  readonly gist: Gist;
  /** The gist as it is stored with the record. Null: the record is read each time. */
  readonly storedGist: string | null;
  /** Whether the gist is a stored one. */
  readonly isKnown: boolean;
  /** The other reference under which an earlier record of the message has the same ISBN. */
  rival?: string | undefined;
  #incoming: Incoming | undefined;
  #form: StoredForm | undefined;

  constructor(
    arrived: Arrived,
    gist: Gist,
    storedGist: string | null,
    read?: { incoming: Incoming; form: StoredForm },
  ) {
    this.arrived = arrived;
    this.gist = gist;
    this.storedGist = storedGist;
    this.isKnown = read === undefined;
    this.#incoming = read?.incoming;
    this.#form = read?.form;
  }

  /** The record with its values. One whose gist is stored is read now. */
  get incoming(): Incoming {
    return this.#incoming ??= readAgain(this.arrived);
  }

  /** The form in which the record is stored. */
  get form(): StoredForm {
    return this.#form ??= storedForm(this.incoming.record);
  }
}

/** Reads a record, unless its gist is stored. */
export function readItem(arrived: Arrived, gists: StoredGists): Item | Rejected {
  const known = gists.get(arrived.key);
  if (known) return new Item(arrived, JSON.parse(known.slice(arrived.key.length)), known);
  return guarded(
    () => itemOf(arrived),
    () => ({
      kind: "rejected",
      reference: arrived.reference,
      line: arrived.line,
      messages: [FAILED],
      moreMessages: 0,
    }),
  );
}

function itemOf(arrived: Arrived): Item | Rejected {
  const incoming = readRecord(arrived.product, arrived.header);
  if (incoming.kind === "rejected") return incoming;
  const form = storedForm(incoming.record);
  const gist = gistOf(incoming, form);
  const storedGist = arrived.key + JSON.stringify(gist);
  // A message about a header is told once, with whichever record comes first.
  const isStored = !incoming.tellsOfHeader && storedGist.length <= MAX_GIST;
  return new Item(arrived, gist, isStored ? storedGist : null, { incoming, form });
}

function gistOf(incoming: Incoming, { digest }: StoredForm): Gist {
  const { reference, notification, isbn13, isbn10, values } = incoming;
  const { messages, moreMessages, unmapped, record } = incoming;
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

function readAgain({ product, header }: Arrived): Incoming {
  const incoming = readRecord(product, header);
  if (incoming.kind === "rejected") throw new TypeError("A record that was read is rejected");
  return incoming;
}

/** The outcome of a record, with messages besides those of reading it. */
export function outcomeOf(
  { arrived: { line }, gist: { reference, messages } }: Item,
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
