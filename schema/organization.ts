import * as v from "valibot";
import { objectOf } from "./bodies.ts";
import { about, assigned, column, type Fields, identifiers, required } from "./fields.ts";
import { heading, text, Uuid } from "./values.ts";

const EmailAddress = v.pipe(
  text(),
  v.regex(/^[^\s@]+@[^\s@]+$/, "invalid_email: Expected an address with an @"),
);

/** The organization, and its data as the sender in the header of ONIX messages. */
// deno-fmt-ignore
export const ORGANIZATION = {
  id: about("The id of the organization.", assigned(Uuid), null),
  name: about("The name of the organization.", required(column(heading(), v.string())), "SenderName"),
  sender_identifiers: about("The numbers that identify the organization as the sender of messages, such as its GLN.",
    identifiers("SenderIdentifier", "sender_id_type", 44), "SenderIdentifier"),
  contact_name: about("The person or department that answers questions about messages.", column(heading(), v.string())),
  email_address: about("The address for these questions.", column(EmailAddress, v.string())),
} satisfies Fields;

/** The body of `PUT /organization`. */
export const UpdateOrganization = objectOf(ORGANIZATION, "changed");

/** The organization in responses. */
export const Organization = objectOf(ORGANIZATION, "shown");
