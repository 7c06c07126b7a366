import type { MessageForm } from "../../schema/rules/releases.ts";
import {
  isOneOf,
  joinByKey,
  json,
  organization,
  raw,
  sql,
  type Statement,
} from "../../../../db/connections/sql.ts";
import { tablesDigest } from "./rules_digest.ts";

/*
 * The texts of records as they went out last, stored per product and form of message. Writing a
 * record takes several times as long as reading its text, and most products do not change between
 * two messages.
 *
 * A text has a key: a hash of all that decides it. A text whose key differs is written anew, so
 * nothing has to invalidate texts. The next text of a product replaces the last one.
 *
 * For example, a publisher gets another ISNI. The identifiers of its products are part of their
 * keys, so that the next message has the new one.
 */

/** The version of the code that writes records. A test fails if texts change and this does not. */
export const WRITING_VERSION = 9;

/** The longest text that is stored, in characters. */
const MAX_TEXT = 65_536;

/** The most characters that a page stores. */
const MAX_PAGE = 4 * 2 ** 20;

/** A text with its key. */
export interface RecordText {
  id: string;
  key: string;
  record: string;
}

/**
 * Joins `t`: the key of the record of product `p`, and its stored text or null. Both are null
 * without a form, and without a valid document `d`. `o` is the organization, `n` the record last
 * received, `parties` those of `joinedParties`.
 */
export function storedText(form: MessageForm | undefined): Statement {
  if (!form) return sql`cross join (select null::text as key, null::text as stored) t`;
  const rules = raw(`'${writingRules()}'`);
  return sql`
    cross join lateral (
      select case when d.etag is not null then md5(json_build_array(
        ${rules}, d.etag, parties.identifiers, parties.contributors, o.name, n.record_reference, n.digest,
        md5(n.differences::text), md5(n.identities::text)
      )::text) end as key
      offset 0
    ) k
    ${
    joinByKey(
      "s",
      sql`select s.record
      from onix_sent s
      where s.organization_id = ${organization} and s.product_id = p.id
        and s.form = ${nameOf(form)} and s.key = k.key`,
    )
  }
    cross join lateral (select k.key, s.record as stored) t
  `;
}

/** Stores texts of at most `MAX_TEXT` characters, up to `MAX_PAGE` characters in all. */
export function storeTexts(form: MessageForm, texts: readonly RecordText[]): Statement[] {
  let length = 0;
  const stored = texts.filter(({ record }) =>
    record.length <= MAX_TEXT && (length += record.length) <= MAX_PAGE
  );
  if (stored.length === 0) return [];
  // The locks are taken in the order in which a deletion takes them: products first.
  return [sql`
    insert into onix_sent as s (organization_id, product_id, form, key, record)
    select p.organization_id, p.id, ${nameOf(form)}, r.key, r.record
    from (
      select p.organization_id, p.id
      from products p
      where p.organization_id = ${organization} and p.id ${isOneOf(stored.map(({ id }) => id))}
      order by p.id
      for key share skip locked
    ) p
    join jsonb_to_recordset(${json(stored)}) r (id uuid, key text, record text) on r.id = p.id
    order by p.id
    on conflict (organization_id, product_id, form) do update set
      key = excluded.key,
      record = excluded.record
    where s.key <> excluded.key
  `];
}

/** The version of the rules by which records are written. */
export function writingRules(): string {
  return `${WRITING_VERSION}-${tablesDigest()}`;
}

/** A form as it is stored, such as `3.1 short`. */
function nameOf({ release, tags }: MessageForm): string {
  return `${release} ${tags}`;
}
