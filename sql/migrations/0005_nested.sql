-- What is written together with its product. `position` is the order given by the client.

create table product_prices (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null,
  position int not null,
  currency_code text not null,
  retail_price numeric(16, 4),
  retail_price_inc_tax numeric(16, 4),
  list_price numeric(16, 4),
  tax_rate numeric(7, 4),
  is_default boolean not null default false,
  valid_from date,
  valid_to date,

  constraint product_prices_pkey primary key (organization_id, product_id, id),
  constraint product_prices_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint product_prices_currency check (currency_code ~ '^[A-Z]{3}$'),
  constraint product_prices_not_negative check (
    retail_price >= 0 and retail_price_inc_tax >= 0 and list_price >= 0
  ),
  constraint product_prices_tax_rate check (tax_rate between 0 and 100),
  constraint product_prices_validity check (valid_to >= valid_from)
);

create table packing_configurations (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null,
  position int not null,
  unit_of_measure text not null,

  constraint packing_configurations_pkey primary key (organization_id, product_id, id),
  constraint packing_configurations_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint packing_configurations_unit check (unit_of_measure in ('inner', 'outer', 'pallet'))
);

create table product_contributors (
  organization_id uuid not null,
  product_id uuid not null,
  contributor_id uuid not null,
  contributor_role_id uuid not null,
  position int not null,

  constraint product_contributors_pkey
    primary key (organization_id, product_id, contributor_id, contributor_role_id),
  constraint product_contributors_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint product_contributors_contributor
    foreign key (organization_id, contributor_id) references contributors (organization_id, id),
  constraint product_contributors_role
    foreign key (contributor_role_id) references contributor_roles (id)
);

create table product_collections (
  organization_id uuid not null,
  product_id uuid not null,
  collection_id uuid not null,
  position int not null,

  constraint product_collections_pkey primary key (organization_id, product_id, collection_id),
  constraint product_collections_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint product_collections_collection
    foreign key (organization_id, collection_id) references collections (organization_id, id)
);

-- A series is one of the product's collections.
alter table products add constraint products_series
  foreign key (organization_id, id, series_id)
  references product_collections (organization_id, product_id, collection_id);

create table custom_field_values (
  organization_id uuid not null,
  product_id uuid not null,
  field_id uuid not null,
  position int not null,
  field_value jsonb,

  constraint custom_field_values_pkey primary key (organization_id, product_id, field_id),
  constraint custom_field_values_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint custom_field_values_field
    foreign key (organization_id, field_id) references custom_fields (organization_id, id),
  constraint custom_field_values_scalar check (jsonb_typeof(field_value) in ('string', 'number', 'boolean'))
);

-- ONIX block 2: texts, cited content and prizes. A row has the columns of its own type.
create table collateral (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null,
  position int not null,
  collateral_type text not null,
  text text,
  text_type text,
  content_audience text[],
  text_format text,
  text_author text,
  source_title text,
  language text,
  cited_content_type text,
  citation_note text,
  resource_link text,
  publication_date date,
  prize_name text,
  prize_year text,
  prize_country text,
  prize_code text,
  prize_statement text,
  prize_jury text,

  constraint collateral_pkey primary key (organization_id, product_id, id),
  constraint collateral_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint collateral_type check (collateral_type in ('text_content', 'cited_content', 'award')),
  constraint collateral_subject check (
    case collateral_type
      when 'text_content' then text
      when 'cited_content' then source_title
      when 'award' then prize_name
    end is not null
  )
);

create table publishing_program_products (
  organization_id uuid not null,
  program_id uuid not null,
  product_id uuid not null,

  constraint publishing_program_products_pkey primary key (organization_id, program_id, product_id),
  constraint publishing_program_products_program
    foreign key (organization_id, program_id) references publishing_programs (organization_id, id),
  -- No cascade: a product in a program cannot be deleted.
  constraint publishing_program_products_product
    foreign key (organization_id, product_id) references products (organization_id, id)
);

create index publishing_program_products_by_product
  on publishing_program_products (organization_id, product_id);
