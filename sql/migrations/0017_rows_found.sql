-- A write asserts that it finds the rows that it names: a cast of `false` fails its transaction. So the statements need
-- no reply before COMMIT.
create domain rows_found as boolean constraint rows_found check (value);
