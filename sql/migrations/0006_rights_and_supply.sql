-- ONIX blocks 3, 4 and 6, under ONIX's own names. The service reads them; they are written elsewhere.
-- Every row has its product, however deep it lies, so that one condition reads a whole tree.

create table product_sales_rights (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 46
  sales_rights_type text not null,
  is_rest_of_world boolean not null default false,
  countries_included text[],
  countries_excluded text[],
  regions_included text[],
  regions_excluded text[],
  publisher_name text,

  constraint product_sales_rights_pkey primary key (organization_id, product_id, id),
  constraint product_sales_rights_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade
);

create table product_territories (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  market_reference text,
  exclusivity text not null default 'unknown',
  -- ONIX List 68
  market_publishing_status text,

  constraint product_territories_pkey primary key (organization_id, product_id, id),
  constraint product_territories_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint product_territories_exclusivity check (
    exclusivity in ('exclusive', 'non_exclusive', 'not_for_sale', 'unknown')
  )
);

create table territory_markets (
  organization_id uuid not null,
  product_id uuid not null,
  territory_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  name text,
  countries_included text[],
  countries_excluded text[],
  regions_included text[],
  regions_excluded text[],

  constraint territory_markets_pkey primary key (organization_id, product_id, territory_id, id),
  constraint territory_markets_territory
    foreign key (organization_id, product_id, territory_id)
    references product_territories (organization_id, product_id, id) on delete cascade
);

create table market_dates (
  organization_id uuid not null,
  product_id uuid not null,
  territory_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 163
  market_date_role text not null,
  date date not null,

  constraint market_dates_pkey primary key (organization_id, product_id, territory_id, id),
  constraint market_dates_territory
    foreign key (organization_id, product_id, territory_id)
    references product_territories (organization_id, product_id, id) on delete cascade
);

create table supply_details (
  organization_id uuid not null,
  product_id uuid not null,
  territory_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 93
  supplier_role text,
  supplier_name text,
  -- ONIX List 65
  product_availability text,
  -- Days
  order_time int,
  pack_quantity int,
  -- ONIX List 57
  unpriced_item_type text,

  constraint supply_details_pkey primary key (organization_id, product_id, id),
  constraint supply_details_territory
    foreign key (organization_id, product_id, territory_id)
    references product_territories (organization_id, product_id, id) on delete cascade
);

create table supply_dates (
  organization_id uuid not null,
  product_id uuid not null,
  supply_detail_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 166
  supply_date_role text not null,
  date date not null,

  constraint supply_dates_pkey primary key (organization_id, product_id, supply_detail_id, id),
  constraint supply_dates_supply_detail
    foreign key (organization_id, product_id, supply_detail_id)
    references supply_details (organization_id, product_id, id) on delete cascade
);

create table supply_prices (
  organization_id uuid not null,
  product_id uuid not null,
  supply_detail_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 58
  price_type text,
  price_amount numeric(16, 4),
  currency_code text,
  -- ONIX List 61
  price_status text,
  minimum_order_quantity int,
  valid_from date,
  valid_to date,

  constraint supply_prices_pkey primary key (organization_id, product_id, id),
  constraint supply_prices_supply_detail
    foreign key (organization_id, product_id, supply_detail_id)
    references supply_details (organization_id, product_id, id) on delete cascade
);

create table supply_price_taxes (
  organization_id uuid not null,
  product_id uuid not null,
  supply_price_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 171
  tax_type text,
  -- ONIX List 62
  tax_rate_code text,
  tax_rate_percent numeric(7, 4),
  taxable_amount numeric(16, 4),
  tax_amount numeric(16, 4),

  constraint supply_price_taxes_pkey primary key (organization_id, product_id, supply_price_id, id),
  constraint supply_price_taxes_supply_price
    foreign key (organization_id, product_id, supply_price_id)
    references supply_prices (organization_id, product_id, id) on delete cascade
);
