import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import {
  contains,
  escapeLike,
  hasTrigram,
  nameContains,
  patternOf,
  termsOf,
  wordsOf,
} from "./search.ts";

/*
 * `q` finds products by their own texts and by the names of records. Names are looked up
 * through the references, so renaming a record rewrites no product.
 *
 * A word that few products have leads: indexes list these products, and each is checked
 * for the other words. If many products have every word, one scan checks all products.
 */

/** The conditions that a text of product `p` contains the word. An index serves each. */
function textsContain(word: string): Statement[] {
  const pattern = patternOf(word);
  const subtitle = sql`search_key(p.subtitle) like ${pattern}`;
  const identifier = hasTrigram(word)
    ? sql`search_key(x.term)`
    : sql`(search_key(x.term) || '')`;
  return [
    contains(word),
    sql`(p.subtitle is not null and ${subtitle})`,
    sql`p.id in (
      select x.product_id
      from product_terms x
      where x.organization_id = ${organization} and x.field = 'id_value'
        and ${identifier} like ${pattern}
    )`,
  ];
}

/** A reference from products to the records of a table. */
interface Reference {
  records: Statement;
  /** The column with the record's id. */
  column: Statement;
  /** The table with this column. */
  table: Statement;
  /** The column of that table with the product's id. */
  product: Statement;
}

/** References of products themselves. */
const COLUMNS: Reference[] = [
  { records: raw("publishers"), column: raw("publisher_id") },
  { records: raw("imprints"), column: raw("imprint_id") },
].map((names) => ({ ...names, table: raw("products"), product: raw("id") }));

/** References in rows of products. A series is one of the collections. */
const LINKS: Reference[] = [
  {
    records: raw("contributors"),
    column: raw("contributor_id"),
    table: raw("product_contributors"),
  },
  {
    records: raw("collections"),
    column: raw("collection_id"),
    table: raw("product_collections"),
  },
].map((names) => ({ ...names, product: raw("product_id") }));

/** The maximum number of products of a word that leads. For more, a scan is faster. */
const FEW = raw("20000");

/** The maximum number of words that may lead. */
const MAX_LEADING = 3;

/**
 * The maximum number of words whose products a scan lists. If a word is in most names,
 * the list takes 100 MB for a million products.
 */
const MAX_LISTED = 4;

/**
 * The WITH clause of `found`: the products `p` that have every word of the term and
 * fulfil the conditions. The columns are `id`, `created_at`, and `key` as `sort_key`.
 */
export function foundProducts(
  term: string,
  key: Statement,
  conditions: Statement[],
): Statement {
  const words = selectiveFirst(wordsOf(term));
  const leaders = words.filter(hasTrigram).slice(0, MAX_LEADING).map(leaderOf);
  const columns = sql`p.id, p.created_at, ${key} as sort_key`;
  const scanned = sql`
    select ${columns}
    from products p
    where p.organization_id = ${organization} ${conditions}
      ${leaders.map(({ isRare }) => sql` and not ${isRare}`)}
      ${
    words.map((word, i) =>
      sql` and ${
        hasWord(word, i < MAX_LISTED ? isListed(word) : isNamed(word))
      }`
    )
  }
  `;
  const [first] = leaders;
  if (!first) return sql`with found as materialized (${scanned})`;
  const checked = words.map((word) => {
    const condition = hasWord(word, isNamed(word));
    return first.word === word
      ? sql` and (${first.isRare} or ${condition})`
      : sql` and ${condition}`;
  });
  return sql`
    with ${
    leaders.map(({ name, list }) => sql`${name} as materialized (${list}), `)
  }
    found as materialized (
      select ${columns}
      from (select distinct product_id from (${leading(leaders)}) x) x
      -- The limit forces a look-up by primary key.
      cross join lateral (
        select p.*
        from products p
        where p.organization_id = ${organization} and p.id = x.product_id
        limit 1
      ) p
      where true ${conditions} ${checked}
      union all
      ${scanned}
    )
  `;
}

/** English letters and digits, rarest first. ISBNs have the digits. */
const CHARACTERS = "zqxjkvbpygfwmucldrhsnioate0123456789";

/** Sorts words of equal length by their rarest character: it excludes most products. */
function selectiveFirst(words: string[]): string[] {
  const rarest = (word: string) =>
    Math.min(
      ...Array.from(word.toLowerCase(), (each) => CHARACTERS.indexOf(each)),
    );
  return words.toSorted((one, other) =>
    other.length - one.length || rarest(one) - rarest(other)
  );
}

/** A word that may lead. */
interface Leader {
  word: string;
  /** The name of the common table expression. PostgreSQL evaluates it if it is needed. */
  name: Statement;
  /** Lists the `product_id` of every product with the word, or one more than `FEW`. */
  list: Statement;
  /** Whether the list is complete. */
  isRare: Statement;
}

function leaderOf(word: string, index: number): Leader {
  const name = raw(`leader_${index + 1}`);
  const enough = sql`limit ${FEW} + 1`;
  const byText = textsContain(word).map((condition) =>
    sql`
      select p.id as product_id
      from products p
      where p.organization_id = ${organization} and ${condition}
      ${enough}
    `
  );
  // The inner limit forces a look-up of each record's products.
  const byName = [...COLUMNS, ...LINKS].map((
    { records, column, table, product },
  ) =>
    sql`
      select x.product_id
      from ${records} r
      cross join lateral (
        select x.${product} as product_id
        from ${table} x
        where x.organization_id = ${organization} and x.${column} = r.id
        ${enough}
      ) x
      where r.organization_id = ${organization} and ${nameContains(word)}
      ${enough}
    `
  );
  const lists = joined([...byText, ...byName], ") union all (");
  return {
    word,
    name,
    list: sql`select product_id from ((${lists})) x ${enough}`,
    isRare: sql`(select count(*) <= ${FEW} from ${name})`,
  };
}

/** Selects the list of the first word that leads. */
function leading(leaders: Leader[]): Statement {
  const lists = leaders.map(({ name, isRare }, i) => {
    const before = leaders.slice(0, i);
    return sql`
      select product_id
      from ${name}
      where ${before.map(({ isRare }) => sql`not ${isRare} and `)} ${isRare}
    `;
  });
  return joined(lists, " union all ");
}

/** The condition that product `p` has the word, in its rows as `inRows` says. */
function hasWord(word: string, inRows: Statement): Statement {
  const names = COLUMNS.map(({ records, column }) =>
    sql`p.${column} in (
      select r.id
      from ${records} r
      where r.organization_id = ${organization} and ${nameContains(word)}
    )`
  );
  return sql`(${joined([...textsContain(word), ...names, inRows], " or ")})`;
}

/**
 * The condition that rows of product `p` refer to a name with the word: compares with a
 * list of all such products. The planner always hashes the elements of an array. It
 * cannot estimate how many names have a short word: OFFSET makes it look up each record.
 */
function isListed(word: string): Statement {
  const lists = LINKS.map(({ records, column, table }) =>
    sql`
      select x.product_id
      from ${records} r
      cross join lateral (
        select x.product_id
        from ${table} x
        where x.organization_id = ${organization} and x.${column} = r.id
        ${hasTrigram(word) ? [] : raw("offset 0")}
      ) x
      where r.organization_id = ${organization} and ${nameContains(word)}
    `
  );
  return sql`p.id in (select unnest(array(${joined(lists, " union all ")})))`;
}

/**
 * The same condition: looks up the names of the product's rows. The limit makes these rows
 * come first: a contributor can have many products.
 */
function isNamed(word: string): Statement {
  const names = LINKS.map(({ records, column, table }) =>
    sql`(
      select bool_or(${nameContains(word, false)})
      from ${table} x
      cross join lateral (
        select r.name
        from ${records} r
        where r.organization_id = ${organization} and r.id = x.${column}
        limit 1
      ) r
      where x.organization_id = ${organization} and x.product_id = p.id
    )`
  );
  return joined(names, " or ");
}

/** The start of `search_text`, which is the title, up to a word. */
const BEFORE = String.raw`(?=[^\x1f]*`;

/**
 * How well product `p` matches the term, best first: 1 if the term is the title, 2 if the
 * title begins with it, 3 if all words are words of the title, else 4.
 */
export function relevance(term: string): Statement {
  const words = termsOf(term);
  const title = sql`search_key(${escapeLike(words.join(" "))})`;
  const contained = words.map((word) =>
    sql`p.search_text like ${patternOf(word)} and `
  );
  const pattern = words.map((word) => {
    // Only a letter or a digit begins or ends a word.
    const begin = /^[\p{L}\p{N}]/u.test(word) ? String.raw`\m` : "";
    const end = /[\p{L}\p{N}]$/u.test(word) ? String.raw`\M` : "";
    const literal = word.replace(
      /[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/g,
      "\\$&",
    );
    return sql` || ${BEFORE + begin} || search_key(${literal}) || ${end + ")"}`;
  });
  return sql`
    case
      when p.search_text like ${title} || E'\\x1f%' then 1
      when p.search_text like ${title} || '%' then 2
      when ${contained} p.search_text collate "und-x-icu" ~ ('^' ${pattern}) then 3
      else 4
    end
  `;
}

/** The fragments with a separator between them. */
function joined(fragments: Statement[], separator: string): Statement {
  return sql`${
    fragments.map((fragment, i) =>
      i === 0 ? fragment : sql`${raw(separator)}${fragment}`
    )
  }`;
}
