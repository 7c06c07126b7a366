-- A year or month announces the publication until its day is known. Older rows have none, so they are not searched.
alter table products add constraint products_announcement check (
  publication_date is null or not publishing_dates @> '[{"publishing_date_role": "01"}]'
) not valid;
