-- Until then the receiver has asked for a pause (Retry-After). A success ends a rest, but not this.
alter table webhooks add column paused_until timestamptz;
