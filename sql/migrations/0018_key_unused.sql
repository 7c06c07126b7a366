-- A write with an Idempotency-Key asserts that the key is unused, as with `rows_found`.
create domain key_unused as boolean constraint key_unused check (value);
