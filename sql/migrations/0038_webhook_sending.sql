alter table webhooks
  -- The process that sends its messages, while some are being sent.
  add column sender uuid,
  -- Until then the receiver has asked for a pause (Retry-After). A success ends a rest, but not this.
  add column paused_until timestamptz;
