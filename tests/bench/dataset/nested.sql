-- The nested rows of a range of products.
-- Parameters: the organization; the first and last product; the numbers of contributors and collections.

insert into product_prices (
  organization_id, product_id, id, position, currency_code, retail_price, retail_price_inc_tax, list_price, tax_rate,
  is_default, valid_from
)
select
  $1, benchmark.id('00', n), benchmark.id(price.kind, n), price.position, price.currency_code,
  5 + n % 40 + 0.99, 6 + n % 45 + 0.49, 7 + n % 40, 7, price.position = 0, date '2026-01-01'
from generate_series($2::int, $3::int) n
cross join (values (0, '20', 'USD'), (1, '21', 'GBP'), (2, '22', 'EUR')) price (position, kind, currency_code);

insert into product_contributors (organization_id, product_id, contributor_id, contributor_role_id, position)
select
  $1, benchmark.id('00', n), benchmark.id('19', 1000001 + (n * 31 + role.position) % $4::int), contributor_roles.id,
  role.position
from generate_series($2::int, $3::int) n
cross join (values (0, 'A01'), (1, 'A12')) role (position, code)
join contributor_roles using (code);

insert into product_collections (organization_id, product_id, collection_id, position)
select $1, benchmark.id('00', n), benchmark.id('18', 1000001 + (n * 17 + position) % $4::int), position
from generate_series($2::int, $3::int) n
cross join generate_series(0, 1) position;

insert into custom_field_values (organization_id, product_id, field_id, position, field_value)
select $1, benchmark.id('00', n), benchmark.id('17', 1000001 + position), position, to_jsonb('Shelf ' || n % 100)
from generate_series($2::int, $3::int) n
cross join generate_series(0, 1) position;

insert into collateral (organization_id, product_id, id, position, collateral_type, text, text_type, content_audience)
select
  $1, benchmark.id('00', n), benchmark.id('24', n), 0, 'text_content',
  repeat('A story of two people, a house by the sea and what each has not told the other. ', 5), '03', '{00}'
from generate_series($2::int, $3::int) n;

-- One product in ten has rights and supply.

insert into product_sales_rights (organization_id, product_id, id, sales_rights_type, countries_included)
select $1, benchmark.id('00', n), benchmark.id('30', n), '01', '{AU,CA,GB,IE,NZ,US}'
from generate_series($2::int, $3::int) n
where n % 10 = 0;

insert into product_territories (
  organization_id, product_id, id, position, market_reference, exclusivity, market_publishing_status
)
select $1, benchmark.id('00', n), benchmark.id('3' || t, n), t, 'Market ' || t, 'exclusive', '04'
from generate_series($2::int, $3::int) n
cross join generate_series(1, 2) t
where n % 10 = 0;

insert into territory_markets (organization_id, product_id, territory_id, id, name, countries_included)
select $1, benchmark.id('00', n), benchmark.id('3' || t, n), benchmark.id('4' || t, n), 'Market ' || t, '{AU,GB,NZ}'
from generate_series($2::int, $3::int) n
cross join generate_series(1, 2) t
where n % 10 = 0;

insert into market_dates (organization_id, product_id, territory_id, id, market_date_role, date)
select $1, benchmark.id('00', n), benchmark.id('3' || t, n), benchmark.id('5' || t, n), '01', date '2026-03-01'
from generate_series($2::int, $3::int) n
cross join generate_series(1, 2) t
where n % 10 = 0;

insert into supply_details (
  organization_id, product_id, territory_id, id, supplier_role, supplier_name, product_availability, pack_quantity
)
select
  $1, benchmark.id('00', n), benchmark.id('3' || t, n), benchmark.id('6' || t, n), '01', 'Tidewater Distribution',
  '20', 24
from generate_series($2::int, $3::int) n
cross join generate_series(1, 2) t
where n % 10 = 0;

insert into supply_dates (organization_id, product_id, supply_detail_id, id, supply_date_role, date)
select $1, benchmark.id('00', n), benchmark.id('6' || t, n), benchmark.id('7' || t, n), '08', date '2026-02-20'
from generate_series($2::int, $3::int) n
cross join generate_series(1, 2) t
where n % 10 = 0;

insert into supply_prices (organization_id, product_id, supply_detail_id, id, price_type, price_amount, currency_code)
select $1, benchmark.id('00', n), benchmark.id('6' || t, n), benchmark.id('8' || t, n), '02', 12 + n % 20, 'GBP'
from generate_series($2::int, $3::int) n
cross join generate_series(1, 2) t
where n % 10 = 0;

insert into supply_price_taxes (
  organization_id, product_id, supply_price_id, id, tax_type, tax_rate_code, tax_rate_percent
)
select $1, benchmark.id('00', n), benchmark.id('8' || t, n), benchmark.id('9' || t, n), '01', 'Z', 0
from generate_series($2::int, $3::int) n
cross join generate_series(1, 2) t
where n % 10 = 0;
