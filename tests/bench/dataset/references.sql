-- The records that an organization's products refer to. Ids end in numbers from 1000001, like those of products.
-- Parameters: the organization; the numbers of its contributors, collections and titles.

insert into licenses (organization_id, id, name, badge_colour)
select $1, benchmark.id('11', n), 'Licence ' || n, '#1d4ed8' from generate_series(1000001, 1000003) n;

insert into seasons (organization_id, id, name)
select $1, benchmark.id('12', n), 'Season ' || n from generate_series(1000001, 1000008) n;

insert into publishers (organization_id, id, name)
select $1, benchmark.id('13', n), 'Publisher ' || n from generate_series(1000001, 1000004) n;

insert into divisions (organization_id, id, name)
select $1, benchmark.id('14', n), 'Division ' || n from generate_series(1000001, 1000003) n;

insert into imprints (organization_id, id, name)
select $1, benchmark.id('15', n), 'Imprint ' || n from generate_series(1000001, 1000010) n;

insert into formats (organization_id, id, name, product_form_id)
select $1, benchmark.id('16', n), 'Format ' || n, (select id from product_forms where code = 'BC')
from generate_series(1000001, 1000006) n;

insert into custom_fields (organization_id, id, name)
select $1, benchmark.id('17', n), 'Field ' || n from generate_series(1000001, 1000004) n;

insert into collections (organization_id, id, name, collection_type)
select $1, benchmark.id('18', n), 'Collection ' || n, 'series' from generate_series(1000001, 1000000 + $2::int) n;

insert into contributors (organization_id, id, name)
select $1, benchmark.id('19', n), 'Contributor ' || n from generate_series(1000001, 1000000 + $2::int) n;

insert into titles (organization_id, id, name)
select $1, benchmark.id('1a', n), 'Title ' || n from generate_series(1000001, 1000000 + $2::int) n;
