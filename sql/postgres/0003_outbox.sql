-- idem schema version 3: the events that leave with the business rows.

INSERT INTO "idem_schema_version" (version) VALUES (3);

CREATE TABLE "idem_outbox" (
  -- A version 7 UUID, by this server's clock. What consumers know the event by.
  event_id        uuid        PRIMARY KEY,
  -- A hash of the aggregate, so that relays can share the work and each aggregate has one at a time.
  shard           smallint    NOT NULL CHECK (shard BETWEEN 0 AND 255),
  aggregate_type  text        COLLATE "C" NOT NULL CHECK (octet_length(aggregate_type) BETWEEN 1 AND 255),
  aggregate_id    text        COLLATE "C" NOT NULL CHECK (octet_length(aggregate_id) BETWEEN 1 AND 255),
  event_type      text        COLLATE "C" NOT NULL CHECK (octet_length(event_type) BETWEEN 1 AND 255),
  payload         bytea       NOT NULL,
  -- "name:value" lines, each ended by a line feed.
  headers         bytea       NOT NULL,
  -- The order of appending within a transaction. Never a cursor: who committed first, it does not say.
  sequence        bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
  created_at      timestamptz NOT NULL,
  attempts        integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  next_attempt_at timestamptz,
  last_error      text
)
-- Rows come and go: what is published is deleted.
WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05);

CREATE INDEX ON "idem_outbox" (shard, sequence);
