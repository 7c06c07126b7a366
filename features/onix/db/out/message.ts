import type { Element } from "../../schema/xml/element.ts";
import type { MessageForm } from "../../schema/rules/releases.ts";
import { type Sender, writeMessage } from "../../schema/xml/write.ts";
import { organization, sql } from "../../../../db/connections/sql.ts";
import type { Queries } from "../../../../db/database.ts";
import { senderFields } from "./record_source.ts";

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

/** A message as text. */
export async function messageText(
  form: MessageForm & { sender: Sender },
  records: Iterable<Element | string> | AsyncIterable<Element | string>,
): Promise<string> {
  const options = { ...form, sentAt: new Date() };
  return (await Array.fromAsync(writeMessage(options, records))).join("");
}
