import type { Element } from "../../schema/onix/xml/element.ts";
import type { Release, Tags } from "../../schema/onix/rules/releases.ts";
import { type Sender, writeMessage } from "../../schema/onix/xml/write.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { senderFields } from "./record_source.ts";

/** The form of a message. */
export interface MessageForm {
  release: Release;
  tags: Tags;
}

/** The organization, which sends the messages. */
export async function readSender(database: Queries): Promise<Sender> {
  const [found] = await database.lookUp(sql<Sender>`
    select o.name as organization, ${senderFields}
    from organizations o
    where o.id = ${organization}
  `);
  if (!found) throw new Error("There is no organization with this id");
  return found;
}

/** A whole message as text. */
export async function messageText(
  form: MessageForm & { sender: Sender },
  records: Iterable<Element> | AsyncIterable<Element>,
): Promise<string> {
  const options = { ...form, sentAt: new Date() };
  return (await Array.fromAsync(writeMessage(options, records))).join("");
}
