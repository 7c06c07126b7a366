-- What a request has written, for its history and its undo. Without it, both read the versions of all requests of a week.
create index product_documents_by_request on product_documents (organization_id, request_id, changed_at, product_id)
  where request_id is not null;
