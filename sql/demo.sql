-- The demo organization: a fictional publisher of real books. Run sql/seed.sql first.
-- ISBNs and covers are of real editions, from goodbooks-10k (Zygmunt Zając, CC BY-SA 4.0). Authors, page counts and
-- prizes are real. Statuses, prices, rights and supply are invented.
-- Ids are fixed: the first two digits identify the table, the last ones the row. The id of product 1 ends in 0100, and
-- the ids of its nested rows in 0101, 0102 and so on, by position. Product codes spell titles in Crockford's base 32.
-- P-H0BB1TPB has a value in every field of the response.

insert into organizations (id, name)
values ('00000000-0000-4000-8000-000000000001', 'Lighthouse Books')
on conflict do nothing;

insert into licenses (organization_id, id, name, badge_colour)
values
  ('00000000-0000-4000-8000-000000000001', '10000000-0000-4000-8000-000000000001', 'Worldwide licence',   '#1d4ed8'),
  ('00000000-0000-4000-8000-000000000001', '10000000-0000-4000-8000-000000000002', 'Territorial licence', '#b45309'),
  ('00000000-0000-4000-8000-000000000001', '10000000-0000-4000-8000-000000000003', 'Digital licence',     '#7c3aed')
on conflict do nothing;

insert into seasons (organization_id, id, name)
values
  ('00000000-0000-4000-8000-000000000001', '20000000-0000-4000-8000-000000000001', 'Autumn 2025'),
  ('00000000-0000-4000-8000-000000000001', '20000000-0000-4000-8000-000000000002', 'Spring 2026'),
  ('00000000-0000-4000-8000-000000000001', '20000000-0000-4000-8000-000000000003', 'Autumn 2026'),
  ('00000000-0000-4000-8000-000000000001', '20000000-0000-4000-8000-000000000004', 'Spring 2027')
on conflict do nothing;

insert into publishers (organization_id, id, name, identifiers)
values
  ('00000000-0000-4000-8000-000000000001', '30000000-0000-4000-8000-000000000001', 'Lighthouse Books',
    '[{"name_id_type": "06", "id_value": "5012345000015"}]'),
  ('00000000-0000-4000-8000-000000000001', '30000000-0000-4000-8000-000000000002', 'Harbour Graphic', null),
  ('00000000-0000-4000-8000-000000000001', '30000000-0000-4000-8000-000000000003', 'Tidewater Audio', null)
on conflict do nothing;

insert into divisions (organization_id, id, name)
values
  ('00000000-0000-4000-8000-000000000001', '40000000-0000-4000-8000-000000000001', 'Adult'),
  ('00000000-0000-4000-8000-000000000001', '40000000-0000-4000-8000-000000000002', 'Children')
on conflict do nothing;

insert into imprints (organization_id, id, name)
values
  ('00000000-0000-4000-8000-000000000001', '50000000-0000-4000-8000-000000000001', 'Lantern'),
  ('00000000-0000-4000-8000-000000000001', '50000000-0000-4000-8000-000000000002', 'Storm Petrel'),
  ('00000000-0000-4000-8000-000000000001', '50000000-0000-4000-8000-000000000003', 'Little Lamp')
on conflict do nothing;

insert into collections (organization_id, id, name, collection_type)
values
  ('00000000-0000-4000-8000-000000000001', '60000000-0000-4000-8000-000000000001', 'Earthsea Cycle',       'series'),
  ('00000000-0000-4000-8000-000000000001', '60000000-0000-4000-8000-000000000002', 'Inkworld',             'series'),
  ('00000000-0000-4000-8000-000000000001', '60000000-0000-4000-8000-000000000003', 'Persepolis',           'series'),
  ('00000000-0000-4000-8000-000000000001', '60000000-0000-4000-8000-000000000004', 'Books in Translation', 'reading_list'),
  ('00000000-0000-4000-8000-000000000001', '60000000-0000-4000-8000-000000000005', 'Prize Winners',        'reading_list'),
  ('00000000-0000-4000-8000-000000000001', '60000000-0000-4000-8000-000000000006', 'Read Aloud',           'reading_list'),
  ('00000000-0000-4000-8000-000000000001', '60000000-0000-4000-8000-000000000007', 'Winter Window',        'promotion'),
  ('00000000-0000-4000-8000-000000000001', '60000000-0000-4000-8000-000000000008', 'Middle-earth',         'series')
on conflict do nothing;

insert into formats (organization_id, id, name, product_form_id)
select '00000000-0000-4000-8000-000000000001', format.id::uuid, format.name, product_forms.id
from product_forms
join (
  values
    ('70000000-0000-4000-8000-000000000001', 'Paperback', 'BC'),
    ('70000000-0000-4000-8000-000000000002', 'Hardback',  'BB'),
    ('70000000-0000-4000-8000-000000000003', 'Boxed set', 'SC'),
    ('70000000-0000-4000-8000-000000000004', 'Ebook',     'ED'),
    ('70000000-0000-4000-8000-000000000005', 'Audiobook', 'AJ'),
    ('70000000-0000-4000-8000-000000000006', 'Audio CD',  'AC')
) as format (id, name, code) using (code)
on conflict do nothing;

insert into titles (organization_id, id, name)
values
  ('00000000-0000-4000-8000-000000000001', '80000000-0000-4000-8000-000000000001', 'The Odyssey'),
  ('00000000-0000-4000-8000-000000000001', '80000000-0000-4000-8000-000000000002', 'The Name of the Rose'),
  ('00000000-0000-4000-8000-000000000001', '80000000-0000-4000-8000-000000000003', 'Half of a Yellow Sun'),
  ('00000000-0000-4000-8000-000000000001', '80000000-0000-4000-8000-000000000004', 'Persepolis'),
  ('00000000-0000-4000-8000-000000000001', '80000000-0000-4000-8000-000000000005', 'Inkheart'),
  ('00000000-0000-4000-8000-000000000001', '80000000-0000-4000-8000-000000000006', 'The Hobbit')
on conflict do nothing;

insert into contributors (
  organization_id, id, name, names_before_key, key_names, person_name_inverted, isni, biographical_note
)
select
  '00000000-0000-4000-8000-000000000001', ('90000000-0000-4000-8000-' || to_char(position, 'FM000000000000'))::uuid, name,
  names_before_key, key_names, key_names || ', ' || names_before_key, isni, biographical_note
from unnest(array[
  'Homer', 'Robert Fagles', 'Bernard Knox', 'Gabriel García Márquez', 'Edith Grossman', 'Umberto Eco',
  'William Weaver', 'Juan Rulfo', 'Margaret Sayers Peden', 'Susan Sontag', 'Cormac McCarthy', 'Kazuo Ishiguro',
  'Salman Rushdie', 'Chimamanda Ngozi Adichie', 'Harper Lee', 'Stephen Hawking', 'Erik Larson', 'Tony Goldwyn',
  'Marjane Satrapi', 'Mattias Ripa', 'Anjali Singh', 'Art Spiegelman', 'Ursula K. Le Guin', 'Neil Gaiman',
  'Dave McKean', 'Roald Dahl', 'Quentin Blake', 'Julia Donaldson', 'Axel Scheffler', 'Cornelia Funke',
  'Anthea Bell', 'J.R.R. Tolkien'
]) with ordinality as person (name, position)
left join (
  values
    ('J.R.R. Tolkien', 'J.R.R.', 'Tolkien', '0000000121441970',
      'J.R.R. Tolkien (1892–1973) was a philologist at Oxford, and made up Middle-earth for its languages.'),
    ('Ursula K. Le Guin', 'Ursula K.', 'Le Guin', null, 'Ursula K. Le Guin (1929–2018) wrote of Earthsea and of many worlds.'),
    ('Robert Fagles', 'Robert', 'Fagles', null, 'Robert Fagles (1933–2008) translated Homer and Virgil.')
) as known (name, names_before_key, key_names, isni, biographical_note) using (name)
on conflict do nothing;

insert into custom_fields (organization_id, id, name)
values
  ('00000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000001', 'Reading age'),
  ('00000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000002', 'Weight in grams'),
  ('00000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000003', 'Signed copies'),
  ('00000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000004', 'Carbon footprint')
on conflict do nothing;

insert into publishing_programs (organization_id, id, name)
values
  ('00000000-0000-4000-8000-000000000001', 'b0000000-0000-4000-8000-000000000001', 'Lighthouse Classics 2027')
on conflict do nothing;

-- The products, with their bibliographic data, trade status and imprint.
insert into products (
  organization_id, id, product_code, title, subtitle, isbn13, isbn10, page_count, publication_date,
  format_id, title_id, publishing_status_id, product_availability_id, lifecycle_status_id, license_id,
  season_id, publisher_id, division_id, imprint_id, product_type, cover_image_url, languages,
  edition_number, edition_statement, product_form_description, primary_content_type, country_of_publication,
  city_of_publication, product_form_details, product_form_features, edition_types, epub_technical_protections, product_identifiers,
  subjects,
  extents, measures, audiences, audience_ranges, publishing_dates, related_products, related_works,
  supporting_resources,
  created_at, updated_at
)
select
  organizations.id, ('c0000000-0000-4000-8000-' || to_char(number * 100, 'FM000000000000'))::uuid,
  product_code, title, subtitle, isbn13, isbn10, page_count, publication_date::date,
  formats.id, titles.id, publishing_statuses.id, product_availabilities.id, lifecycle_statuses.id, licenses.id,
  seasons.id, publishers.id, divisions.id, imprints.id, product_type,
  'https://images.gr-assets.com/books/' || cover || '.jpg',
  -- All texts are English. The Odyssey and The Name of the Rose are translations.
  jsonb_build_array(jsonb_build_object(
    'language_role', '01', 'language_code', 'eng', 'country_code', 'GB', 'script_code', 'Latn'
  )) || case product_code
    when 'P-0DYSSEY1' then '[{ "language_role": "02", "language_code": "grc" }]'
    when 'P-R0SENAME' then '[{ "language_role": "02", "language_code": "ita" }]'
    else '[]'
  end::jsonb,
  b.edition_number, b.edition_statement, b.product_form_description, b.primary_content_type, b.country_of_publication, 
  b.city_of_publication, b.product_form_details, b.product_form_features, b.edition_types, b.epub_technical_protections, 
  b.product_identifiers, b.subjects, 
  b.extents, b.measures, b.audiences, b.audience_ranges, b.publishing_dates, 
  b.related_products, b.related_works, b.supporting_resources,
  house.created_at::timestamptz, house.created_at::timestamptz
from (
  values
    ('P-0DYSSEY1',  1, '9780143039952', '0143039954',  541, '2006-11-30', 'The Odyssey',                       null),
    ('P-CH01ERA1',  2, '9781400034680', '140003468X',  348, '2003-10-05', 'Love in the Time of Cholera',       null),
    ('P-R0SENAME',  3, '9780156001311', '0156001314',  536, '1994-09-28', 'The Name of the Rose',              null),
    ('P-PEDR0PAR',  4, '9780802133908', '0802133908',  128, '1994-03-10', 'Pedro Páramo',                      null),
    ('P-THER0AD1',  5, '9780307265432', '0307265439',  241, '2006-09-26', 'The Road',                          null),
    ('P-NEVER1ET',  6, '9781400078776', '1400078776',  288, '2006-03-14', 'Never Let Me Go',                   null),
    ('P-M1DN1GHT',  7, '9780099578512', '0099578514',  647, '1995-05-01', 'Midnight''s Children',              null),
    ('P-YE110WSN',  8, '9781400044160', '1400044162',  433, '2006-09-12', 'Half of a Yellow Sun',              null),
    ('P-YE110WAB',  9, null,            null,         null, null,         'Half of a Yellow Sun',              null),
    ('P-M0CKB1RD', 10, '9780061120084', '0061120081',  324, '2006-05-23', 'To Kill a Mockingbird',             null),
    ('P-BR1EFH1S', 11, '9780553380163', '0553380168',  212, '1998-09-01', 'A Brief History of Time',           null),
    ('P-WH1TEC1T', 12, '9780739303405', '0739303406', null, '2003-02-11', 'The Devil in the White City',       'Murder, Magic, and Madness at the Fair That Changed America'),
    ('P-PERSEP01', 13, '9780375714573', '037571457X',  153, '2004-06-01', 'Persepolis',                        'The Story of a Childhood'),
    ('P-PERSEP02', 14, '9780375714665', '0375714669',  187, '2005-08-02', 'Persepolis 2',                      'The Story of a Return'),
    ('P-MAVS0001', 15, '9780394541556', '0394541553',  159, '1991-11-01', 'Maus I',                            'A Survivor''s Tale: My Father Bleeds History'),
    ('P-EARTHSE1', 16, '9780553383041', '0553383043',  183, '2004-09-28', 'A Wizard of Earthsea',              null),
    ('P-EARTHSE2', 17, '9780689845369', '0689845367',  180, '2001-09-01', 'The Tombs of Atuan',                null),
    ('P-EARTHSE3', 18, '9781416509646', '141650964X',  259, '2004-11-01', 'The Farthest Shore',                null),
    ('P-C0RA11NE', 19, '9780061139376', '0061139378',  162, '2006-08-29', 'Coraline',                          null),
    ('P-CHAR11E1', 20, '9780142403884', '0142403881',  176, '2005-06-02', 'Charlie and the Chocolate Factory', null),
    ('P-GRVFFA10', 21, '9780333710937', '0333710932',   32, '1999-08-20', 'The Gruffalo',                      null),
    ('P-1NKHEART', 22, '9780439709101', '0439709105',  563, '2005-06-01', 'Inkheart',                          null),
    ('P-1NKSPE11', 23, '9780439554008', '0439554004',  635, '2005-10-01', 'Inkspell',                          null),
    ('P-H0BB1TPB', 24, '9780618260300', '0618260307',  366, '2002-08-15', 'The Hobbit',                        'Or There and Back Again'),
    ('P-T01K1EN4', 25, '9780345538376', '0345538374', 1728, '2012-09-25', 'J.R.R. Tolkien 4-Book Boxed Set',   'The Hobbit and The Lord of the Rings'),
    ('P-H0BB1TEB', 26, null,            null,         null, '2027-03-11', 'The Hobbit',                        'Or There and Back Again')
) as book (product_code, number, isbn13, isbn10, page_count, publication_date, title, subtitle)
join (
  values
    ('P-0DYSSEY1', 'Paperback', 'normal',  '04', '21', 'active',         'Territorial licence', 'The Odyssey'),
    ('P-CH01ERA1', 'Paperback', 'normal',  '04', '21', 'active',         'Worldwide licence',   null),
    ('P-R0SENAME', 'Paperback', 'normal',  '04', '32', 'active',         'Territorial licence', 'The Name of the Rose'),
    ('P-PEDR0PAR', 'Paperback', 'normal',  '07', '51', 'out_of_print',   'Worldwide licence',   null),
    ('P-THER0AD1', 'Hardback',  'normal',  '10', '47', 'archived',       null,                  null),
    ('P-NEVER1ET', 'Paperback', 'normal',  '04', '32', 'active',         'Worldwide licence',   null),
    ('P-M1DN1GHT', 'Paperback', 'normal',  '04', '20', 'active',         'Worldwide licence',   null),
    ('P-YE110WSN', 'Hardback',  'normal',  '04', '21', 'active',         'Worldwide licence',   'Half of a Yellow Sun'),
    ('P-YE110WAB', 'Audiobook', null,      null, '10', 'in_development', 'Digital licence',     'Half of a Yellow Sun'),
    ('P-M0CKB1RD', 'Paperback', 'normal',  '05', '52', 'archived',       null,                  null),
    ('P-BR1EFH1S', 'Paperback', 'normal',  '04', '21', 'active',         'Worldwide licence',   null),
    ('P-WH1TEC1T', 'Audio CD',  'special', '08', '40', 'archived',       'Digital licence',     null),
    ('P-PERSEP01', 'Paperback', 'normal',  '04', '21', 'active',         'Worldwide licence',   'Persepolis'),
    ('P-PERSEP02', 'Paperback', 'normal',  '04', '21', 'active',         'Worldwide licence',   'Persepolis'),
    ('P-MAVS0001', 'Hardback',  'normal',  '16', '34', 'active',         null,                  null),
    ('P-EARTHSE1', 'Paperback', 'normal',  '04', '21', 'active',         'Worldwide licence',   null),
    ('P-EARTHSE2', 'Paperback', 'normal',  '04', '21', 'active',         'Worldwide licence',   null),
    ('P-EARTHSE3', 'Paperback', 'normal',  '04', '30', 'active',         'Worldwide licence',   null),
    ('P-C0RA11NE', 'Paperback', 'normal',  '04', '21', 'active',         'Territorial licence', null),
    ('P-CHAR11E1', 'Paperback', 'normal',  '17', '46', 'archived',       null,                  null),
    ('P-GRVFFA10', 'Paperback', 'normal',  '04', '21', 'active',         'Territorial licence', null),
    ('P-1NKHEART', 'Paperback', 'normal',  '04', '21', 'active',         'Worldwide licence',   'Inkheart'),
    ('P-1NKSPE11', 'Hardback',  'normal',  '06', '31', 'active',         'Worldwide licence',   null),
    ('P-H0BB1TPB', 'Paperback', 'normal',  '04', '21', 'active',         'Territorial licence', 'The Hobbit'),
    ('P-T01K1EN4', 'Boxed set', 'kit',     '04', '22', 'active',         'Territorial licence', null),
    ('P-H0BB1TEB', 'Ebook',     'normal',  '02', '10', 'forthcoming',    'Digital licence',     'The Hobbit')
) as trade (product_code, format, product_type, publishing_status, availability, lifecycle_status, license, work)
  using (product_code)
join (
  values
    ('P-0DYSSEY1', 'Lighthouse Books', 'Adult',    'Lantern',      'Autumn 2025', '2024-02-12 09:14Z', '1390173285m/1381'),
    ('P-CH01ERA1', 'Lighthouse Books', 'Adult',    'Lantern',      'Autumn 2025', '2024-02-12 09:31Z', '1327124987m/9712'),
    ('P-R0SENAME', 'Lighthouse Books', 'Adult',    'Lantern',      'Spring 2026', '2024-03-18 10:45Z', '1415375471m/119073'),
    ('P-PEDR0PAR', 'Lighthouse Books', 'Adult',    'Lantern',      null,          '2024-04-02 16:20Z', '1500663791m/38787'),
    ('P-THER0AD1', 'Lighthouse Books', 'Adult',    'Storm Petrel', null,          '2024-06-21 08:30Z', '1439197219m/6288'),
    ('P-NEVER1ET', 'Lighthouse Books', 'Adult',    'Storm Petrel', 'Autumn 2026', '2024-09-10 11:11Z', '1353048590m/6334'),
    ('P-M1DN1GHT', 'Lighthouse Books', 'Adult',    'Storm Petrel', 'Spring 2026', '2024-09-10 11:40Z', '1371063511m/14836'),
    ('P-YE110WSN', 'Lighthouse Books', 'Adult',    'Storm Petrel', 'Autumn 2026', '2025-01-15 09:05Z', '1327934717m/18749'),
    ('P-YE110WAB', 'Tidewater Audio',  'Adult',    'Storm Petrel', 'Spring 2027', '2026-10-28 15:47Z', null),
    ('P-M0CKB1RD', 'Lighthouse Books', 'Adult',    'Storm Petrel', null,          '2025-01-15 09:20Z', '1361975680m/2657'),
    ('P-BR1EFH1S', 'Lighthouse Books', 'Adult',    'Storm Petrel', 'Spring 2026', '2025-03-03 13:00Z', '1333578746m/3869'),
    ('P-WH1TEC1T', 'Tidewater Audio',  'Adult',    'Storm Petrel', null,          '2025-03-24 17:35Z', '1312066724m/21996'),
    ('P-PERSEP01', 'Harbour Graphic',  'Adult',    'Lantern',      'Autumn 2025', '2025-05-08 10:10Z', '1425871473m/9516'),
    ('P-PERSEP02', 'Harbour Graphic',  'Adult',    'Lantern',      'Autumn 2025', '2025-05-08 10:12Z', '1327865598m/9517'),
    ('P-MAVS0001', 'Harbour Graphic',  'Adult',    'Lantern',      null,          '2025-05-08 11:03Z', '1327884972m/15196'),
    ('P-EARTHSE1', 'Lighthouse Books', 'Children', 'Little Lamp',  'Spring 2026', '2025-08-19 09:00Z', '1353424536m/13642'),
    ('P-EARTHSE2', 'Lighthouse Books', 'Children', 'Little Lamp',  'Spring 2026', '2025-08-19 09:01Z', '1417900879m/13662'),
    ('P-EARTHSE3', 'Lighthouse Books', 'Children', 'Little Lamp',  'Spring 2026', '2025-08-19 09:02Z', null),
    ('P-C0RA11NE', 'Lighthouse Books', 'Children', 'Little Lamp',  'Autumn 2026', '2025-11-04 14:25Z', '1493497435m/17061'),
    ('P-CHAR11E1', 'Lighthouse Books', 'Children', 'Little Lamp',  null,          '2026-01-20 12:00Z', '1309211401m/6310'),
    ('P-GRVFFA10', 'Lighthouse Books', 'Children', 'Little Lamp',  'Autumn 2026', '2026-02-09 09:45Z', '1329674496m/1013383'),
    ('P-1NKHEART', 'Lighthouse Books', 'Children', 'Little Lamp',  'Autumn 2025', '2026-04-14 10:30Z', '1328866790m/28194'),
    ('P-1NKSPE11', 'Lighthouse Books', 'Children', 'Little Lamp',  'Autumn 2025', '2026-04-14 10:33Z', '1395358683m/28195'),
    ('P-H0BB1TPB', 'Lighthouse Books', 'Children', 'Little Lamp',  'Autumn 2026', '2026-06-30 08:55Z', '1372847500m/5907'),
    ('P-T01K1EN4', 'Lighthouse Books', 'Adult',    'Lantern',      null,          '2026-06-30 09:10Z', '1346072396m/30'),
    ('P-H0BB1TEB', 'Lighthouse Books', 'Children', 'Little Lamp',  'Spring 2027', '2026-11-02 16:05Z', '1372847500m/5907')
) as house (product_code, publisher, division, imprint, season, created_at, cover) using (product_code)
-- Three books, described as retailers ask for it.
left join (
  values
    ('P-H0BB1TPB', '{
      "edition_number": 3,
      "edition_statement": "Third edition, with the author''s drawings",
      "product_form_description": "With a map of Wilderland on the endpapers",
      "primary_content_type": "10",
      "country_of_publication": "US",
      "city_of_publication": "Boston",
      "product_form_details": ["B104", "B504"],
      "product_form_features": [
        { "product_form_feature_type": "01", "product_form_feature_value": "BLK" },
        { "product_form_feature_type": "03",
          "product_form_feature_descriptions": ["Perpetua", "Set by hand in the chapter headings"] }
      ],
      "edition_types": ["ILL", "REV"],
      "epub_technical_protections": ["00"],
      "product_identifiers": [
        { "product_id_type": "01", "id_type_name": "Lighthouse number", "id_value": "LH-24" },
        { "product_id_type": "13", "id_value": "2001276594" }
      ],
      "subjects": [
        { "main_subject": true, "subject_scheme_identifier": "93", "subject_scheme_version": "1.6",
          "subject_code": "FMB", "subject_heading_text": "Epic fantasy / heroic fantasy" },
        { "main_subject": true, "subject_scheme_identifier": "10", "subject_code": "FIC009020",
          "subject_heading_text": "FICTION / Fantasy / Epic" },
        { "main_subject": false, "subject_scheme_identifier": "93", "subject_code": "YFH" },
        { "main_subject": false, "subject_scheme_identifier": "24", "subject_scheme_name": "Lighthouse shelves",
          "subject_code": "DRAGONS" },
        { "main_subject": false, "subject_scheme_identifier": "20", "subject_heading_text": "dragons; dwarves; riddles" }
      ],
      "extents": [{ "extent_type": "02", "extent_value": 95356, "extent_unit": "02" }],
      "measures": [
        { "measure_type": "01", "measurement": 8.25, "measure_unit_code": "in" },
        { "measure_type": "02", "measurement": 5.5, "measure_unit_code": "in" },
        { "measure_type": "08", "measurement": 354, "measure_unit_code": "gr" }
      ],
      "audiences": [
        { "audience_code_type": "01", "audience_code_value": "02" },
        { "audience_code_type": "02", "audience_code_type_name": "Lighthouse readers", "audience_code_value": "Families" }
      ],
      "audience_ranges": [
        { "audience_range_qualifier": "17", "audience_range_from": "10", "audience_range_to": "99" },
        { "audience_range_qualifier": "18", "audience_range_exact": "10" }
      ],
      "publishing_dates": [
        { "publishing_date_role": "11", "date": "1937-09-21" },
        { "publishing_date_role": "20", "date": "1938" }
      ],
      "related_products": [{
        "product_relation_codes": ["02"],
        "product_identifiers": [
          { "product_id_type": "15", "id_value": "9780345538376" },
          { "product_id_type": "01", "id_type_name": "Lighthouse number", "id_value": "LH-25" }
        ]
      }],
      "related_works": [{
        "work_relation_code": "01",
        "work_identifiers": [
          { "work_id_type": "01", "id_type_name": "Lighthouse works", "id_value": "The Hobbit" }
        ]
      }],
      "supporting_resources": [{
        "resource_content_type": "01",
        "content_audience": ["00"],
        "resource_mode": "03",
        "resource_features": [
          { "resource_feature_type": "07", "feature_value": "eng", "feature_note": "A dragon above a mountain" }
        ],
        "resource_versions": [{
          "resource_form": "02",
          "resource_version_features": [
            { "resource_version_feature_type": "01", "feature_value": "D502", "feature_note": "JPEG" }
          ],
          "resource_links": ["https://images.gr-assets.com/books/1372847500l/5907.jpg"]
        }]
      }]
    }'::jsonb),
    ('P-0DYSSEY1', '{
      "edition_number": 1,
      "primary_content_type": "10",
      "country_of_publication": "GB",
      "city_of_publication": "London",
      "product_form_details": ["B504"],
      "edition_types": ["ANN"],
      "subjects": [
        { "main_subject": true, "subject_scheme_identifier": "93", "subject_scheme_version": "1.6", "subject_code": "DB" },
        { "main_subject": false, "subject_scheme_identifier": "93", "subject_scheme_version": "1.6", "subject_code": "FBC" },
        { "main_subject": true, "subject_scheme_identifier": "10", "subject_code": "POE008000" }
      ],
      "measures": [
        { "measure_type": "01", "measurement": 213, "measure_unit_code": "mm" },
        { "measure_type": "02", "measurement": 147, "measure_unit_code": "mm" },
        { "measure_type": "08", "measurement": 590, "measure_unit_code": "gr" }
      ],
      "audiences": [{ "audience_code_type": "01", "audience_code_value": "01" }],
      "related_works": [{
        "work_relation_code": "02",
        "work_identifiers": [{ "work_id_type": "01", "id_type_name": "Lighthouse works", "id_value": "Odyssea" }]
      }],
      "supporting_resources": [{
        "resource_content_type": "15",
        "content_audience": ["00"],
        "resource_mode": "04",
        "resource_versions": [{ "resource_form": "02", "resource_links": ["https://samples.example/odyssey.pdf"] }]
      }]
    }'),
    ('P-EARTHSE1', '{
      "primary_content_type": "10",
      "country_of_publication": "US",
      "city_of_publication": "New York",
      "product_form_details": ["B104"],
      "subjects": [
        { "main_subject": true, "subject_scheme_identifier": "93", "subject_scheme_version": "1.6", "subject_code": "YFH" },
        { "main_subject": true, "subject_scheme_identifier": "10", "subject_code": "YAF019010" }
      ],
      "measures": [
        { "measure_type": "01", "measurement": 8.2, "measure_unit_code": "in" },
        { "measure_type": "08", "measurement": 6.9, "measure_unit_code": "oz" }
      ],
      "audiences": [{ "audience_code_type": "01", "audience_code_value": "03" }],
      "audience_ranges": [{ "audience_range_qualifier": "17", "audience_range_from": "12" }],
      "publishing_dates": [{ "publishing_date_role": "11", "date": "1968" }],
      "related_products": [{
        "product_relation_codes": ["23"],
        "product_identifiers": [{ "product_id_type": "15", "id_value": "9780689845369" }]
      }]
    }')
) as described (product_code, fields) using (product_code)
cross join lateral jsonb_to_record(coalesce(described.fields, '{}')) b (
  edition_number int, edition_statement text, product_form_description text, primary_content_type text,
  country_of_publication text, city_of_publication text, product_form_details jsonb,
  product_form_features jsonb, edition_types jsonb,
  epub_technical_protections jsonb, product_identifiers jsonb, subjects jsonb, extents jsonb, measures jsonb,
  audiences jsonb, audience_ranges jsonb, publishing_dates jsonb, related_products jsonb, related_works jsonb,
  supporting_resources jsonb
)
join organizations on organizations.id = '00000000-0000-4000-8000-000000000001'
left join formats on formats.organization_id = organizations.id and formats.name = trade.format
left join titles on titles.organization_id = organizations.id and titles.name = trade.work
left join licenses on licenses.organization_id = organizations.id and licenses.name = trade.license
left join seasons on seasons.organization_id = organizations.id and seasons.name = house.season
left join publishers on publishers.organization_id = organizations.id and publishers.name = house.publisher
left join divisions on divisions.organization_id = organizations.id and divisions.name = house.division
left join imprints on imprints.organization_id = organizations.id and imprints.name = house.imprint
left join publishing_statuses on publishing_statuses.code = trade.publishing_status
left join product_availabilities on product_availabilities.code = trade.availability
left join lifecycle_statuses on lifecycle_statuses.code = trade.lifecycle_status
on conflict do nothing;

-- Contributors: authors, translators, illustrators, narrators and authors of introductions.
insert into product_contributors (organization_id, product_id, contributor_id, contributor_role_id, position)
select products.organization_id, products.id, contributors.id, contributor_roles.id, position
from products
join (
  values
    ('P-0DYSSEY1', '{Homer, Robert Fagles, Bernard Knox}',              '{A01, B06, A29}'),
    ('P-CH01ERA1', '{Gabriel García Márquez, Edith Grossman}',          '{A01, B06}'),
    ('P-R0SENAME', '{Umberto Eco, William Weaver}',                     '{A01, B06}'),
    ('P-PEDR0PAR', '{Juan Rulfo, Margaret Sayers Peden, Susan Sontag}', '{A01, B06, A23}'),
    ('P-THER0AD1', '{Cormac McCarthy}',                                 '{A01}'),
    ('P-NEVER1ET', '{Kazuo Ishiguro}',                                  '{A01}'),
    ('P-M1DN1GHT', '{Salman Rushdie}',                                  '{A01}'),
    ('P-YE110WSN', '{Chimamanda Ngozi Adichie}',                        '{A01}'),
    ('P-YE110WAB', '{Chimamanda Ngozi Adichie}',                        '{A01}'),
    ('P-M0CKB1RD', '{Harper Lee}',                                      '{A01}'),
    ('P-BR1EFH1S', '{Stephen Hawking}',                                 '{A01}'),
    ('P-WH1TEC1T', '{Erik Larson, Tony Goldwyn}',                       '{A01, E07}'),
    ('P-PERSEP01', '{Marjane Satrapi, Marjane Satrapi, Mattias Ripa}',  '{A01, A12, B06}'),
    ('P-PERSEP02', '{Marjane Satrapi, Marjane Satrapi, Anjali Singh}',  '{A01, A12, B06}'),
    ('P-MAVS0001', '{Art Spiegelman, Art Spiegelman}',                  '{A01, A12}'),
    ('P-EARTHSE1', '{Ursula K. Le Guin}',                               '{A01}'),
    ('P-EARTHSE2', '{Ursula K. Le Guin}',                               '{A01}'),
    ('P-EARTHSE3', '{Ursula K. Le Guin}',                               '{A01}'),
    ('P-C0RA11NE', '{Neil Gaiman, Dave McKean}',                        '{A01, A12}'),
    ('P-CHAR11E1', '{Roald Dahl, Quentin Blake}',                       '{A01, A12}'),
    ('P-GRVFFA10', '{Julia Donaldson, Axel Scheffler}',                 '{A01, A12}'),
    ('P-1NKHEART', '{Cornelia Funke, Anthea Bell}',                     '{A01, B06}'),
    ('P-1NKSPE11', '{Cornelia Funke, Anthea Bell}',                     '{A01, B06}'),
    ('P-H0BB1TPB', '{J.R.R. Tolkien}',                                  '{A01}'),
    ('P-T01K1EN4', '{J.R.R. Tolkien}',                                  '{A01}'),
    ('P-H0BB1TEB', '{J.R.R. Tolkien}',                                  '{A01}')
) as book (product_code, people, roles) using (product_code)
cross join unnest(book.people::text[], book.roles::text[]) with ordinality as credit (name, role, position)
join contributors on contributors.organization_id = products.organization_id and contributors.name = credit.name
join contributor_roles on contributor_roles.code = credit.role
where products.organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

-- Collections of the products.
insert into product_collections (organization_id, product_id, collection_id, position, part_number)
select
  products.organization_id, products.id, collections.id, position,
  case when collections.collection_type = 'series' then case product_code
    when 'P-EARTHSE1' then '1' when 'P-EARTHSE2' then '2' when 'P-EARTHSE3' then '3' when 'P-H0BB1TPB' then '1'
  end end
from products
join (
  values
    ('P-0DYSSEY1', '{Books in Translation}'),
    ('P-CH01ERA1', '{Books in Translation, Winter Window}'),
    ('P-R0SENAME', '{Books in Translation, Prize Winners}'),
    ('P-PEDR0PAR', '{Books in Translation}'),
    ('P-THER0AD1', '{Prize Winners}'),
    ('P-M1DN1GHT', '{Prize Winners}'),
    ('P-YE110WSN', '{Prize Winners, Winter Window}'),
    ('P-M0CKB1RD', '{Prize Winners}'),
    ('P-PERSEP01', '{Persepolis, Books in Translation}'),
    ('P-PERSEP02', '{Persepolis, Books in Translation}'),
    ('P-MAVS0001', '{Prize Winners}'),
    ('P-EARTHSE1', '{Earthsea Cycle, Read Aloud}'),
    ('P-EARTHSE2', '{Earthsea Cycle}'),
    ('P-EARTHSE3', '{Earthsea Cycle, Prize Winners}'),
    ('P-C0RA11NE', '{Prize Winners, Winter Window}'),
    ('P-CHAR11E1', '{Read Aloud}'),
    ('P-GRVFFA10', '{Read Aloud, Winter Window}'),
    ('P-1NKHEART', '{Inkworld, Books in Translation}'),
    ('P-1NKSPE11', '{Inkworld, Books in Translation}'),
    ('P-H0BB1TPB', '{Middle-earth, Read Aloud, Winter Window}'),
    ('P-T01K1EN4', '{Middle-earth, Winter Window}'),
    ('P-H0BB1TEB', '{Middle-earth}')
) as shelf (product_code, collections) using (product_code)
cross join unnest(shelf.collections::text[]) with ordinality as place (name, position)
join collections on collections.organization_id = products.organization_id and collections.name = place.name
where products.organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

-- After the links, because the series must be one of the product's collections.
update products
set series_id = collections.id
from product_collections
join collections
  on collections.organization_id = product_collections.organization_id
  and collections.id = product_collections.collection_id
where products.organization_id = '00000000-0000-4000-8000-000000000001'
  and products.product_code in (
    'P-PERSEP01', 'P-PERSEP02', 'P-EARTHSE1', 'P-EARTHSE2', 'P-EARTHSE3', 'P-1NKHEART', 'P-1NKSPE11', 'P-H0BB1TPB',
    'P-T01K1EN4', 'P-H0BB1TEB'
  )
  and products.series_id is null
  and product_collections.organization_id = products.organization_id
  and product_collections.product_id = products.id
  and collections.collection_type = 'series';

insert into publishing_program_products (organization_id, program_id, product_id)
select publishing_programs.organization_id, publishing_programs.id, products.id
from publishing_programs
join products using (organization_id)
where organization_id = '00000000-0000-4000-8000-000000000001'
  and publishing_programs.name = 'Lighthouse Classics 2027'
  and product_code in ('P-0DYSSEY1', 'P-R0SENAME', 'P-H0BB1TPB')
on conflict do nothing;

-- Prices excluding and including tax. The rate is a percentage.
insert into product_prices (
  organization_id, product_id, id, position, currency_code, retail_price, retail_price_inc_tax, list_price, tax_rate,
  is_default, valid_from, valid_to
)
select
  organization_id, products.id, ('d1' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position,
  currency_code, retail_price, retail_price_inc_tax, list_price, tax_rate, is_default, valid_from::date, valid_to::date
from products
join (
  values
    ('P-0DYSSEY1', 1, 'GBP', 12.99, 12.99, 12.99,    0, true,  '2026-01-01', null),
    ('P-0DYSSEY1', 2, 'EUR', 14.95, 16.00, 14.95,    7, false, '2026-01-01', null),
    ('P-0DYSSEY1', 3, 'AUD', 22.72, 24.99, 22.72,   10, false, '2026-01-01', null),
    ('P-CH01ERA1', 1, 'USD', 16.95,  null, 17.95, null, true,  null,         null),
    ('P-CH01ERA1', 2, 'GBP',  9.99,  9.99,  9.99,    0, false, null,         null),
    ('P-R0SENAME', 1, 'USD', 17.99,  null, 17.99, null, true,  '2026-01-01', '2026-12-31'),
    ('P-R0SENAME', 2, 'USD', 18.99,  null, 18.99, null, false, '2027-01-01', null),
    ('P-R0SENAME', 3, 'EUR', 16.82, 18.00, 16.82,    7, false, '2026-01-01', null),
    ('P-NEVER1ET', 1, 'USD', 17.00,  null, 17.00, null, true,  '2024-10-01', null),
    ('P-NEVER1ET', 2, 'CAD', 22.00, 23.10, 22.00,    5, false, '2024-10-01', null),
    ('P-NEVER1ET', 3, 'JPY',  2000,  2200,  2000,   10, false, '2025-04-01', null),
    ('P-M1DN1GHT', 1, 'GBP', 10.99, 10.99, 10.99,    0, true,  null,         null),
    ('P-M1DN1GHT', 2, 'INR',   599,   599,   599,    0, false, null,         null),
    ('P-YE110WSN', 1, 'USD', 26.00,  null, 26.00, null, true,  '2025-02-01', null),
    ('P-YE110WSN', 2, 'GBP', 18.99, 18.99, 20.00,    0, false, '2025-02-01', null),
    ('P-BR1EFH1S', 1, 'USD', 18.00,  null, 18.00, null, true,  null,         null),
    ('P-PERSEP01', 1, 'USD', 16.00,  null, 16.00, null, true,  null,         null),
    ('P-PERSEP01', 2, 'EUR', 14.95, 16.00, 14.95,    7, false, null,         null),
    ('P-EARTHSE1', 1, 'USD', 14.00,  null, 14.00, null, true,  '2025-09-01', null),
    ('P-EARTHSE1', 2, 'GBP',  8.99,  8.99,  8.99,    0, false, '2025-09-01', null),
    ('P-EARTHSE1', 3, 'EUR', 11.21, 11.99, 11.21,    7, false, '2025-09-01', null),
    ('P-GRVFFA10', 1, 'GBP',  7.99,  7.99,  7.99,    0, true,  null,         null),
    ('P-1NKHEART', 1, 'USD', 12.99,  null, 12.99, null, true,  null,         null),
    ('P-1NKHEART', 2, 'EUR', 11.21, 11.99, 11.21,    7, false, null,         null),
    ('P-H0BB1TPB', 1, 'USD', 14.95,  null, 14.95, null, true,  '2026-07-01', null),
    ('P-H0BB1TPB', 2, 'EUR', 16.82, 18.00, 16.82,    7, false, '2026-07-01', '2027-06-30'),
    ('P-T01K1EN4', 1, 'USD', 35.96,  null, 39.96, null, true,  '2026-07-01', '2026-12-31'),
    ('P-H0BB1TEB', 1, 'GBP',  7.49,  7.49,  7.49,    0, true,  '2027-03-11', null)
) as price (
  product_code, position, currency_code, retail_price, retail_price_inc_tax, list_price, tax_rate, is_default, valid_from,
  valid_to
) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into packing_configurations (organization_id, product_id, id, position, unit_of_measure, quantity, gtin)
select
  organization_id, products.id, ('d2' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position, unit,
  case unit when 'inner' then 6 when 'outer' then 24 else 960 end,
  case when product_code = 'P-H0BB1TPB' and unit = 'outer' then '10614141543219' end
from products
join (
  values
    ('P-0DYSSEY1', '{inner, outer, pallet}'),
    ('P-CH01ERA1', '{outer}'),
    ('P-R0SENAME', '{inner, outer}'),
    ('P-M1DN1GHT', '{outer}'),
    ('P-PERSEP01', '{outer}'),
    ('P-EARTHSE1', '{inner, outer}'),
    ('P-GRVFFA10', '{inner, pallet}'),
    ('P-H0BB1TPB', '{outer, pallet}'),
    ('P-T01K1EN4', '{outer}')
) as packing (product_code, units) using (product_code)
cross join unnest(packing.units::text[]) with ordinality as size (unit, position)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into custom_field_values (organization_id, product_id, field_id, position, field_value)
select products.organization_id, products.id, custom_fields.id, position, value::jsonb
from products
join (
  values
    ('P-0DYSSEY1', 1, 'Weight in grams',  '590'),
    ('P-0DYSSEY1', 2, 'Signed copies',    'false'),
    ('P-R0SENAME', 1, 'Weight in grams',  '431.5'),
    ('P-R0SENAME', 2, 'Carbon footprint', null),
    ('P-NEVER1ET', 1, 'Signed copies',    'true'),
    ('P-NEVER1ET', 2, 'Carbon footprint', '0.74'),
    ('P-EARTHSE1', 1, 'Reading age',      '"10 to 14"'),
    ('P-C0RA11NE', 1, 'Reading age',      '"8 to 12"'),
    ('P-C0RA11NE', 2, 'Signed copies',    'true'),
    ('P-GRVFFA10', 1, 'Reading age',      '"3 to 6"'),
    ('P-GRVFFA10', 2, 'Weight in grams',  '172'),
    ('P-GRVFFA10', 3, 'Signed copies',    'false'),
    ('P-GRVFFA10', 4, 'Carbon footprint', null),
    ('P-H0BB1TPB', 1, 'Reading age',      '"9 and up"'),
    ('P-H0BB1TPB', 2, 'Weight in grams',  '340')
) as field (product_code, position, name, value) using (product_code)
join custom_fields on custom_fields.organization_id = products.organization_id and custom_fields.name = field.name
where products.organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

-- Collateral: texts of the publisher, reviews and prizes.
insert into collateral (
  organization_id, product_id, id, position, collateral_type, language, text_type, text_format, content_audience, text,
  text_author, source_title, text_source_corporate, text_source_description
)
select
  organization_id, products.id, ('d3' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position,
  'text_content', 'eng', text_type, text_format, content_audience::text[], text, text_author, source_title,
  text_source_corporate, text_source_description
from products
join (
  values
    ('P-0DYSSEY1', 1, '02', '06', '{00}',    'A poem of a long way home, in the verse of Robert Fagles.', null, null, null, null),
    ('P-0DYSSEY1', 2, '03', '02', '{00}',    '<p>Troy has fallen, and Odysseus is ten years late. This is his way back to Ithaca.</p>', null, null, null, null),
    ('P-0DYSSEY1', 3, '13', '06', '{02,04}', 'Teaching notes on the twenty-four books are free to schools and libraries.', 'Lighthouse Books', null, null, null),
    ('P-NEVER1ET', 1, '03', '06', '{00}',    'Kathy, Ruth and Tommy grew up at Hailsham, where nobody told them quite enough.', null, null, null, null),
    ('P-NEVER1ET', 2, '12', '06', '{00}',    'Kazuo Ishiguro, born in Nagasaki in 1954, received the Nobel Prize in Literature in 2017.', null, null, null, null),
    ('P-BR1EFH1S', 1, '02', '06', '{00}',    'From the Big Bang to black holes, with a single equation.', null, null, null, null),
    ('P-PERSEP01', 1, '02', '06', '{00}',    'A childhood in Tehran before, during and after the revolution, drawn in black and white.', null, null, null, null),
    ('P-EARTHSE1', 1, '16', '06', '{00}',    'Islands, dragons and true names: the story of the mage Ged.', null, null, null, null),
    ('P-GRVFFA10', 1, '10', '06', '{03,05}', 'A mouse took a walk, and the picture book was never the same.', null, null, null, null),
    ('P-H0BB1TPB', 1, '02', '06', '{00}',    'A quiet hobbit, thirteen dwarves, a dragon, and no handkerchief.', null, null, null, null),
    ('P-H0BB1TPB', 4, '06', '06', '{00}',    'Prediction is dangerous: but The Hobbit may well prove a classic.', 'C. S. Lewis', 'The Times Literary Supplement', 'The Times Publishing Company', 'A fellow of Magdalen College')
) as content (
  product_code, position, text_type, text_format, content_audience, text, text_author, source_title,
  text_source_corporate, text_source_description
) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into collateral (
  organization_id, product_id, id, position, collateral_type, cited_content_type, source_title, publication_date,
  content_audience, citation_note, resource_link
)
select
  organization_id, products.id, ('d3' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position,
  'cited_content', cited_content_type, source_title, cited.publication_date::date, content_audience::text[],
  citation_note, resource_link
from products
join (
  values
    ('P-0DYSSEY1', 4, '05', 'The Guardian',           '2002-05-08', null,   'The top 100 books of all time',                      'https://www.theguardian.com/world/2002/may/08/books.booksnews'),
    ('P-THER0AD1', 1, '01', 'The New York Times',     '2006-10-08', null,   'Left Behind, by William Kennedy',                    'https://www.nytimes.com/2006/10/08/books/review/Kennedy.t.html'),
    ('P-NEVER1ET', 3, '05', 'TIME',                   '2005-10-16', null,   'All-TIME 100 Novels',                                'https://entertainment.time.com/2005/10/16/all-time-100-novels/'),
    ('P-M0CKB1RD', 1, '04', 'Chicago Public Library', null,         null,   'One Book, One Chicago: the first book, autumn 2001', null),
    ('P-H0BB1TPB', 2, '05', 'BBC',                    null,         null,   'The Big Read: number 25',                            'https://www.bbc.co.uk/arts/bigread/top100.shtml'),
    ('P-H0BB1TPB', 3, '01', 'The Times Literary Supplement', '1937-10-02', '{00}', 'A World for Children, by C. S. Lewis',        'https://www.the-tls.co.uk/')
) as cited (
  product_code, position, cited_content_type, source_title, publication_date, content_audience, citation_note, resource_link
) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into collateral (
  organization_id, product_id, id, position, collateral_type, prize_year, prize_country, prize_code, prize_name,
  prize_statement, prize_jury
)
select
  organization_id, products.id, ('d3' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position,
  'award', prize_year, prize_country, prize_code, prize_name, prize_statement, prize_jury
from products
join (
  values
    ('P-R0SENAME', 1, '1981', 'IT', '01', 'Premio Strega',                             null,                           null),
    ('P-R0SENAME', 2, '1982', 'FR', '01', 'Prix Médicis étranger',                     null,                           null),
    ('P-THER0AD1', 2, '2007', 'US', '01', 'Pulitzer Prize for Fiction',                null,                           null),
    ('P-NEVER1ET', 4, '2005', 'GB', '04', 'Man Booker Prize',                          null,                           null),
    ('P-M1DN1GHT', 1, '1981', 'GB', '01', 'Booker Prize',                              'Best of the Booker, 2008',     'Chaired by Malcolm Bradbury'),
    ('P-YE110WSN', 1, '2007', 'GB', '01', 'Orange Broadband Prize for Fiction',        null,                           null),
    ('P-M0CKB1RD', 2, '1961', 'US', '01', 'Pulitzer Prize for Fiction',                null,                           null),
    ('P-MAVS0001', 1, '1992', 'US', '01', 'Pulitzer Prize: Special Citation',          null,                           null),
    ('P-EARTHSE2', 1, '1972', 'US', '02', 'Newbery Medal',                             'A Newbery Honor Book',         null),
    ('P-EARTHSE3', 1, '1973', 'US', '01', 'National Book Award for Children''s Books', null,                           null),
    ('P-C0RA11NE', 1, '2003', 'US', '01', 'Hugo Award for Best Novella',               null,                           null),
    ('P-GRVFFA10', 2, '1999', 'GB', '01', 'Nestlé Smarties Book Prize',                'Gold award, ages 5 and under', null),
    ('P-H0BB1TPB', 5, '1938', 'US', '01', 'New York Herald Tribune Prize',             'Best juvenile fiction',        'New York Herald Tribune')
) as award (
  product_code, position, prize_year, prize_country, prize_code, prize_name, prize_statement, prize_jury
) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

-- Sales rights. A row for the rest of the world has no territory.
insert into product_sales_rights (
  organization_id, product_id, id, position, sales_rights_type, is_rest_of_world, countries_included, countries_excluded,
  regions_included, regions_excluded, publisher_name
)
select
  organization_id, products.id, ('e1' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position,
  sales_rights_type, is_rest_of_world, countries_included::text[], countries_excluded::text[], regions_included::text[],
  regions_excluded::text[], publisher_name
from products
join (
  values
    ('P-0DYSSEY1', 1, '01', false, '{GB,IE,AU,NZ}', null,         null,              null,      null),
    ('P-0DYSSEY1', 2, '06', false, '{US,CA}',       null,         null,              null,      'Northern Cape Press'),
    ('P-0DYSSEY1', 3, '02', true,  null,            null,         null,              null,      null),
    ('P-NEVER1ET', 1, '01', false, null,            '{GB,IE}',    '{WORLD}',         null,      null),
    ('P-NEVER1ET', 2, '06', false, '{GB,IE}',       null,         null,              null,      'Isle and Strand'),
    ('P-YE110WSN', 1, '02', false, '{NG,GH,KE,ZA}', null,         null,              null,      null),
    ('P-YE110WSN', 2, '05', false, '{IN}',          null,         null,              null,      null),
    ('P-YE110WSN', 3, '00', true,  null,            null,         null,              null,      null),
    ('P-BR1EFH1S', 1, '02', false, null,            null,         '{WORLD}',         null,      null),
    ('P-GRVFFA10', 1, '01', false, null,            null,         '{GB-EWS,GB-NIR}', null,      null),
    ('P-GRVFFA10', 2, '04', false, '{DE,AT,CH}',    null,         null,              null,      null),
    ('P-GRVFFA10', 3, '03', true,  null,            null,         null,              null,      null),
    ('P-H0BB1TPB', 1, '02', false, null,            '{DE,AT,CH}', '{WORLD}',         '{CA-QC}', null),
    ('P-H0BB1TPB', 2, '01', false, '{DE,AT,CH}',    null,         null,              null,      null),
    ('P-H0BB1TPB', 3, '06', false, null,            null,         '{CA-QC}',         null,      'Maison Saint-Laurent')
) as sale (
  product_code, position, sales_rights_type, is_rest_of_world, countries_included, countries_excluded, regions_included,
  regions_excluded, publisher_name
) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

-- Territories with markets and supply, for four products. A row refers to its parent by position.
insert into product_territories (
  organization_id, product_id, id, position, market_reference, exclusivity, market_publishing_status
)
select
  organization_id, products.id, ('e2' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position,
  market_reference, exclusivity, market_publishing_status
from products
join (
  values
    ('P-0DYSSEY1', 1, 'UKCW',  'exclusive',     '04'),
    ('P-0DYSSEY1', 2, 'NAM',   'not_for_sale',  '12'),
    ('P-NEVER1ET', 1, 'WORLD', 'exclusive',     '04'),
    ('P-YE110WAB', 1, 'WAF',   'unknown',       '02'),
    ('P-H0BB1TPB', 1, 'INT',   'non_exclusive', '14'),
    ('P-H0BB1TPB', 2, 'DACH',  'exclusive',     '04')
) as market (product_code, position, market_reference, exclusivity, market_publishing_status) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into territory_markets (
  organization_id, product_id, territory_id, id, position, name, countries_included, countries_excluded, regions_included,
  regions_excluded
)
select
  organization_id, products.id, ('e2' || substr(products.id::text, 3, 32) || to_char(territory, 'FM00'))::uuid,
  ('e3' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position, name, countries_included::text[],
  countries_excluded::text[], regions_included::text[], regions_excluded::text[]
from products
join (
  values
    ('P-0DYSSEY1', 1, 1, 'United Kingdom and Ireland',      '{GB,IE}',    null,         null,      null),
    ('P-0DYSSEY1', 1, 2, 'Australia and New Zealand',       '{AU,NZ}',    null,         null,      null),
    ('P-0DYSSEY1', 2, 3, 'North America',                   '{US,CA}',    null,         null,      null),
    ('P-NEVER1ET', 1, 1, 'World without the British Isles', null,         '{GB,IE}',    '{WORLD}', null),
    ('P-YE110WAB', 1, 1, 'West Africa',                     '{NG,GH}',    null,         null,      null),
    ('P-H0BB1TPB', 1, 1, 'World in English',                null,         '{DE,AT,CH}', '{WORLD}', '{CA-QC}'),
    ('P-H0BB1TPB', 2, 2, 'Germany, Austria, Switzerland',   '{DE,AT,CH}', null,         null,      null)
) as market (
  product_code, territory, position, name, countries_included, countries_excluded, regions_included, regions_excluded
) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into market_dates (organization_id, product_id, territory_id, id, position, market_date_role, date)
select
  organization_id, products.id, ('e2' || substr(products.id::text, 3, 32) || to_char(territory, 'FM00'))::uuid,
  ('e4' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position, market_date_role, date::date
from products
join (
  values
    ('P-0DYSSEY1', 1, 1, '10', '2006-09-01'),
    ('P-0DYSSEY1', 1, 2, '01', '2006-11-30'),
    ('P-NEVER1ET', 1, 1, '11', '2005-04-05'),
    ('P-NEVER1ET', 1, 2, '01', '2006-03-14'),
    ('P-NEVER1ET', 1, 3, '26', '2027-01-15'),
    ('P-YE110WAB', 1, 1, '27', '2027-02-01'),
    ('P-YE110WAB', 1, 2, '01', '2027-05-06'),
    ('P-H0BB1TPB', 1, 1, '01', '2002-08-15'),
    ('P-H0BB1TPB', 2, 2, '01', '2026-09-01')
) as event (product_code, territory, position, market_date_role, date) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into supply_details (
  organization_id, product_id, territory_id, id, position, supplier_role, supplier_name, product_availability, order_time,
  pack_quantity, unpriced_item_type, supplier_identifiers
)
select
  organization_id, products.id, ('e2' || substr(products.id::text, 3, 32) || to_char(territory, 'FM00'))::uuid,
  ('e5' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position, supplier_role, supplier_name,
  product_availability, order_time, pack_quantity, unpriced_item_type,
  case supplier_name
    when 'Harbour Wholesale' then jsonb '[
      {"supplier_id_type": "06", "id_value": "5012345000022"},
      {"supplier_id_type": "01", "id_type_name": "Account", "id_value": "HW-1"}
    ]'
  end
from products
join (
  values
    ('P-0DYSSEY1', 1, 1, '02', 'Lighthouse Distribution',    '21',    2,   24, null),
    ('P-0DYSSEY1', 1, 2, '06', 'Southern Cross Book Supply', '22',   10,   12, null),
    ('P-NEVER1ET', 1, 1, '15', 'Lighthouse Distribution',    '32', null,   32, null),
    ('P-YE110WAB', 1, 1, '09', 'Tidewater Audio',            '10', null, null, '02'),
    ('P-H0BB1TPB', 1, 1, '04', 'Harbour Wholesale',          '20',    5,   20, null),
    ('P-H0BB1TPB', 2, 2, '13', 'Leuchtturm Auslieferung',    '21',    1,   10, null),
    ('P-H0BB1TPB', 2, 3, '09', 'Leuchtturm Laden',           '20', null, null, '02')
) as supply (
  product_code, territory, position, supplier_role, supplier_name, product_availability, order_time, pack_quantity,
  unpriced_item_type
) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into supply_dates (organization_id, product_id, supply_detail_id, id, position, supply_date_role, date)
select
  organization_id, products.id, ('e5' || substr(products.id::text, 3, 32) || to_char(supply_detail, 'FM00'))::uuid,
  ('e6' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position, supply_date_role, date::date
from products
join (
  values
    ('P-0DYSSEY1', 1, 1, '18', '2027-06-30'),
    ('P-0DYSSEY1', 2, 2, '50', '2026-02-01'),
    ('P-NEVER1ET', 1, 1, '34', '2027-01-08'),
    ('P-NEVER1ET', 1, 2, '08', '2027-01-15'),
    ('P-YE110WAB', 1, 1, '08', '2027-05-06'),
    ('P-H0BB1TPB', 1, 1, '02', '2002-08-14'),
    ('P-H0BB1TPB', 2, 2, '50', '2026-09-01')
) as event (product_code, supply_detail, position, supply_date_role, date) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into supply_prices (
  organization_id, product_id, supply_detail_id, id, position, price_type, price_amount, currency_code, price_status,
  minimum_order_quantity, valid_from, valid_to, price_qualifier, countries_included, countries_excluded,
  regions_included, regions_excluded
)
select
  organization_id, products.id, ('e5' || substr(products.id::text, 3, 32) || to_char(supply_detail, 'FM00'))::uuid,
  ('e7' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position, price_type, price_amount,
  currency_code, price_status, minimum_order_quantity, valid_from::date, valid_to::date, price_qualifier,
  countries_included::text[], countries_excluded::text[], regions_included::text[], regions_excluded::text[]
from products
join (
  values
    ('P-0DYSSEY1', 1, 1, '02', 12.99, 'GBP', '02', null, '2026-01-01', null),
    ('P-0DYSSEY1', 1, 2, '02', 15.99, 'EUR', '02', null, '2026-01-01', null),
    ('P-0DYSSEY1', 2, 3, '02', 24.99, 'AUD', '02', null, null,         null),
    ('P-0DYSSEY1', 2, 4, '02', 29.99, 'NZD', '02', null, null,         null),
    ('P-NEVER1ET', 1, 1, '01', 17.00, 'USD', '02', null, null,         null),
    ('P-NEVER1ET', 1, 2, '01', 22.00, 'CAD', '02', null, null,         null),
    ('P-H0BB1TPB', 1, 1, '01', 14.95, 'USD', '02',    1, '2026-07-01', null),
    ('P-H0BB1TPB', 1, 2, '05',  8.22, 'USD', '01',   50, '2026-07-01', '2026-12-31'),
    ('P-H0BB1TPB', 2, 3, '04', 18.00, 'EUR', '02', null, '2026-09-01', null)
) as price (
  product_code, supply_detail, position, price_type, price_amount, currency_code, price_status, minimum_order_quantity,
  valid_from, valid_to
) using (product_code)
left join (
  values
    ('P-H0BB1TPB', 1, '05', '{US}', null,   null,      '{US-HI}'),
    ('P-H0BB1TPB', 3, null, null,   '{GB}', '{WORLD}', null)
) as place (
  product_code, position, price_qualifier, countries_included, countries_excluded, regions_included, regions_excluded
) using (product_code, position)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;

insert into supply_price_taxes (
  organization_id, product_id, supply_price_id, id, position, tax_type, tax_rate_code, tax_rate_percent, taxable_amount,
  tax_amount
)
select
  organization_id, products.id, ('e7' || substr(products.id::text, 3, 32) || to_char(supply_price, 'FM00'))::uuid,
  ('e8' || substr(products.id::text, 3, 32) || to_char(position, 'FM00'))::uuid, position, tax_type, tax_rate_code,
  tax_rate_percent, taxable_amount, tax_amount
from products
join (
  values
    ('P-0DYSSEY1', 1, 1, '01', 'Z',  0, 12.99, 0.00),
    ('P-0DYSSEY1', 2, 2, '01', 'Z',  0, 15.99, 0.00),
    ('P-0DYSSEY1', 3, 3, '02', 'S', 10, 22.72, 2.27),
    ('P-0DYSSEY1', 4, 4, '02', 'S', 15, 26.08, 3.91),
    ('P-NEVER1ET', 2, 1, '02', 'S',  5, 22.00, 1.10),
    ('P-H0BB1TPB', 3, 1, '01', 'R',  7, 16.82, 1.18)
) as tax (
  product_code, supply_price, position, tax_type, tax_rate_code, tax_rate_percent, taxable_amount, tax_amount
) using (product_code)
where organization_id = '00000000-0000-4000-8000-000000000001'
on conflict do nothing;
