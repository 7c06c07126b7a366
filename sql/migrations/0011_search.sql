-- Search ignores accents, and lists filter by everything that products refer to. For a million products, 5 % of them
-- with titles beyond ASCII, this takes 17 seconds: reads go on, writes wait.

-- A product written meanwhile would keep the older key.
lock table products in share row exclusive mode;

-- What search compares: Unicode's lower case, whatever the locale of the database, decomposed, without accents, and
-- composed again, so that a syllable of Korean is one character. Accents are the combining marks of Latin, Greek,
-- Cyrillic, Hebrew, Arabic and Japanese; those of Devanagari or Thai write vowels, and stay. Both forms of sigma are
-- one. ASCII takes a shorter way. The function is not strict: PostgreSQL inlines no strict function with a `case`.
create or replace function search_key(value text) returns text
language sql immutable parallel safe
return case
  when octet_length(value) = char_length(value) then lower(value collate "C")
  else translate(
    normalize(
      regexp_replace(
        normalize(lower(value collate "und-x-icu"), nfd) collate "C",
        '[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f'
          || '\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff'
          || '\u3099\u309a\ufe20-\ufe2f]+',
        '', 'g'
      ),
      nfc
    ),
    'ς', 'σ'
  )
end;

-- The key of ASCII is what it was. The others are generated anew, without rewriting the table; no answer changes.
set local catalogue.writer = 'service';

update products set title = title where octet_length(search_text) <> char_length(search_text);

set local catalogue.writer to default;

-- The products of a contributor, a collection, a publisher, an imprint, a parent title. An entry is the reference
-- alone: equal ones share their space, 8 MB for a million products instead of 80 with the order of a list. A series
-- is one of the product's collections. Divisions, seasons, licenses and product types are few: a scan of the
-- organization finds these, in a third of a second for a million products, and no write pays for it. The five indexes
-- take 68 MB for a million products with two contributors and two collections each, and 7 % of the CPU of a create.
create index product_contributors_by_contributor on product_contributors (organization_id, contributor_id);

create index product_collections_by_collection on product_collections (organization_id, collection_id);

create index products_by_publisher on products (organization_id, publisher_id) where publisher_id is not null;

create index products_by_imprint on products (organization_id, imprint_id) where imprint_id is not null;

create index products_by_parent_title on products (organization_id, title_id) where title_id is not null;
