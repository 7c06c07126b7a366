-- What the trade needs of a book beside the fields of the specification. The arrays are values, as the languages: they
-- have no identity, and a body replaces them all.

alter table products
  add column edition_number int,
  add column edition_statement text,
  add column product_form_description text,
  -- ONIX List 81
  add column primary_content_type text,
  -- ONIX List 91
  add column country_of_publication text,
  add column city_of_publication text,
  -- Codes of ONIX Lists 175, 21 and 144
  add column product_form_details jsonb,
  add column edition_types jsonb,
  add column epub_technical_protections jsonb,
  add column product_identifiers jsonb,
  add column subjects jsonb,
  add column extents jsonb,
  add column measures jsonb,
  add column audiences jsonb,
  add column audience_ranges jsonb,
  add column publishing_dates jsonb,
  add column related_products jsonb,
  add column related_works jsonb,
  add column supporting_resources jsonb;

alter table products
  add constraint products_form_details_array check (jsonb_typeof(product_form_details) = 'array'),
  add constraint products_edition_types_array check (jsonb_typeof(edition_types) = 'array'),
  add constraint products_protections_array check (jsonb_typeof(epub_technical_protections) = 'array'),
  add constraint products_identifiers_array check (jsonb_typeof(product_identifiers) = 'array'),
  add constraint products_subjects_array check (jsonb_typeof(subjects) = 'array'),
  add constraint products_extents_array check (jsonb_typeof(extents) = 'array'),
  add constraint products_measures_array check (jsonb_typeof(measures) = 'array'),
  add constraint products_audiences_array check (jsonb_typeof(audiences) = 'array'),
  add constraint products_audience_ranges_array check (jsonb_typeof(audience_ranges) = 'array'),
  add constraint products_publishing_dates_array check (jsonb_typeof(publishing_dates) = 'array'),
  add constraint products_related_products_array check (jsonb_typeof(related_products) = 'array'),
  add constraint products_related_works_array check (jsonb_typeof(related_works) = 'array'),
  add constraint products_resources_array check (jsonb_typeof(supporting_resources) = 'array');

-- What lists are filtered by: the codes of languages and subjects, and the values of identifiers. In byte order, a
-- beginning is a range of the key. A product without them has no row here.
create table product_terms (
  organization_id uuid not null,
  product_id uuid not null,
  field text not null,
  term text collate "C" not null,

  constraint product_terms_pkey primary key (organization_id, field, term, product_id)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('product_terms', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

create index product_terms_by_product on product_terms (organization_id, product_id);

-- A product that is written meanwhile would lack its terms.
lock table products in share row exclusive mode;

insert into product_terms (organization_id, product_id, field, term)
select p.organization_id, p.id, 'language_code', e ->> 'language_code'
from products p
cross join jsonb_array_elements(p.languages) e
where e ->> 'language_code' is not null
on conflict do nothing;

alter table product_terms add constraint product_terms_product
  foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade;

alter table product_collections
  add column part_number text;

alter table packing_configurations
  add column quantity int,
  add column gtin text;

alter table packing_configurations
  add constraint packing_configurations_quantity check (quantity >= 1);

alter table contributors
  add column names_before_key text,
  add column key_names text,
  add column person_name_inverted text,
  add column is_organization boolean not null default false,
  add column isni text,
  add column orcid text,
  add column biographical_note text;

alter table supply_prices
  -- ONIX List 59
  add column price_qualifier text,
  add column countries_included text[],
  add column countries_excluded text[],
  add column regions_included text[],
  add column regions_excluded text[];

-- Whether EDItEUR advises against the code. It is accepted all the same.
alter table onix_codes
  add column if not exists deprecated boolean not null default false;

-- The stored JSON lacks all this. Reads store it again.
truncate product_documents;
