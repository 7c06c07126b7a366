import { fc } from "../support/app/packages.ts";

const POSITIONED = [
  "product_prices",
  "packing_configurations",
  "product_contributors",
  "product_collections",
  "custom_field_values",
  "collateral",
  "product_sales_rights",
  "product_territories",
];

const NAMED = [
  "licenses",
  "seasons",
  "publishers",
  "divisions",
  "imprints",
  "collections",
  "formats",
  "titles",
  "contributors",
  "custom_fields",
];

/** Writes by SQL. `$org` is an organization, `$product` one of its products. */
const WRITES = [
  ...POSITIONED.flatMap((table) => [
    `update ${table} set position = 3 - position where product_id = '$product'`,
    `delete from ${table} where product_id = '$product'
      and not exists (select from products where id = '$product' and series_id is not null)`,
  ]),
  ...NAMED.flatMap((table) => [
    `update ${table} set name = right(name || '!', 20) where organization_id = '$org'`,
    `insert into ${table} (organization_id, id, name)
      select organization_id, id, right(name || '?', 20) from ${table} where organization_id = '$org'
      on conflict on constraint ${table}_pkey do update set name = excluded.name`,
  ]),
  "update products set title = right(title || 'x', 20) where id = '$product'",
  "update products set format_id = null, publishing_status_id = null where organization_id = '$org'",
  "update products set lifecycle_status_id = (select id from lifecycle_statuses order by random() limit 1) where organization_id = '$org'",
  "update products set updated_at = '2020-01-01' where id = '$product'",
  "delete from products where id = '$product' and not exists (select from publishing_program_products where product_id = '$product')",
  "insert into products (organization_id, title) values ('$org', 'By SQL')",
  `insert into product_prices (organization_id, product_id, id, position, currency_code)
    select organization_id, id, gen_random_uuid(), 7, 'USD' from products where id = '$product'`,
  `insert into product_territories (organization_id, product_id, position, market_publishing_status)
    select organization_id, id, 1, '04' from products where id = '$product'`,
  `insert into supply_details (organization_id, product_id, territory_id, supplier_role)
    select organization_id, product_id, id, '02' from product_territories where product_id = '$product'`,
  `insert into product_sales_rights (organization_id, product_id, sales_rights_type)
    select organization_id, id, '01' from products where id = '$product'`,
  "update onix_codes set label = right(label || '+', 20) where list = 68",
  "update publishing_statuses set name = right(name || '+', 20)",
  "update formats set product_form_id = (select id from product_forms order by random() limit 1) where organization_id = '$org'",
  "savepoint here",
];

/** An SQL transaction. */
export const SQL: fc.Arbitrary<string> = fc.array(fc.constantFrom(...WRITES), {
  minLength: 1,
  maxLength: 4,
}).map((statements) => statements.join(";\n"));
