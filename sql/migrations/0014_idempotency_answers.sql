-- An Idempotency-Key is good for every operation that creates something, and remembers whatever it answered.

alter table idempotency_keys rename column product_id to record_id;

-- Null where the operation does not create exactly one record.
alter table idempotency_keys alter column record_id drop not null;

-- The data of the answer, as JSON text.
alter table idempotency_keys rename column product to answer;

-- The operation that the key was used for; the keys of the day before are all of this one.
alter table idempotency_keys add column operation text not null default 'POST /products';
