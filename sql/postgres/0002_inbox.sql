-- idem schema version 2: the events that consumers have seen, and the versions that they have applied.

INSERT INTO "idem_schema_version" (version) VALUES (2);

CREATE TABLE "idem_inbox" (
  consumer    text        COLLATE "C" NOT NULL CHECK (octet_length(consumer) BETWEEN 1 AND 255),
  source      text        COLLATE "C" NOT NULL CHECK (octet_length(source) BETWEEN 1 AND 1024),
  event_id    text        COLLATE "C" NOT NULL CHECK (octet_length(event_id) BETWEEN 1 AND 512),
  received_at timestamptz NOT NULL,
  -- Until then the event may be delivered again, so the row is needed.
  keep_until  timestamptz NOT NULL CHECK (keep_until >= received_at),
  PRIMARY KEY (consumer, source, event_id)
)
WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

CREATE TABLE "idem_version_guard" (
  consumer   text        COLLATE "C" NOT NULL CHECK (octet_length(consumer) BETWEEN 1 AND 255),
  -- What the version counts, such as an account's number.
  entity     text        COLLATE "C" NOT NULL CHECK (octet_length(entity) BETWEEN 1 AND 1024),
  version    bigint      NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (consumer, entity)
)
-- Room for the next version beside the last one.
WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
