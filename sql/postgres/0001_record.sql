-- idem schema version 1: the idempotency records.
--
-- Runs as it stands in psql, with the default names and the current search_path. The library substitutes the quoted
-- names below where others are configured (`idemctl schema print`).

CREATE TABLE IF NOT EXISTS "idem_schema_version" (
  version      integer     PRIMARY KEY,
  installed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO "idem_schema_version" (version) VALUES (1);

CREATE TABLE "idem_record" (
  -- The first 16 bytes of SHA-256 over a version byte and principal, operation and key, each length-prefixed:
  -- "idem_key_hash"(principal, operation, idempotency_key).
  key_hash         uuid        PRIMARY KEY,
  principal        text        COLLATE "C" NOT NULL CHECK (octet_length(principal) BETWEEN 1 AND 255),
  operation        text        COLLATE "C" NOT NULL CHECK (octet_length(operation) BETWEEN 1 AND 255),
  idempotency_key  text        COLLATE "C" NOT NULL CHECK (octet_length(idempotency_key) BETWEEN 1 AND 255),
  -- One scheme byte and 32 bytes of SHA-256 or HMAC-SHA-256.
  fingerprint      bytea       NOT NULL CHECK (octet_length(fingerprint) = 33),
  -- 1 IN_PROGRESS, 2 COMPLETED, 3 FAILED, 4 UNKNOWN.
  state            smallint    NOT NULL CHECK (state BETWEEN 1 AND 4),
  -- Who holds the record. Every later write matches both.
  fence            bigint      NOT NULL CHECK (fence > 0),
  attempt          uuid        NOT NULL,
  -- The fence that this record began with.
  generation       bigint      NOT NULL CHECK (generation BETWEEN 1 AND fence),
  taken_over       boolean     NOT NULL GENERATED ALWAYS AS (fence <> generation) STORED,
  -- The transaction that reserved it last, so that the same one cannot reserve it twice.
  reserved_xact    xid8        NOT NULL,
  resumable        boolean     NOT NULL,
  downstream       text        COLLATE "C" CHECK (octet_length(downstream) BETWEEN 1 AND 255),
  window_until     timestamptz CHECK (window_until IS NULL OR downstream IS NOT NULL),
  call_deadline    interval    NOT NULL CHECK (call_deadline >= interval '0'),
  sent_at          timestamptz,
  lease_until      timestamptz NOT NULL,
  retention        interval    NOT NULL CHECK (retention > interval '0'),
  response_status  integer,
  -- "name:value" lines, each ended by a line feed.
  response_headers bytea,
  response_body    bytea,
  created_at       timestamptz NOT NULL,
  finished_at      timestamptz,
  expires_at       timestamptz,
  resolved_by      text        CHECK (octet_length(resolved_by) BETWEEN 1 AND 255),
  resolved_note    text        CHECK (octet_length(resolved_note) BETWEEN 1 AND 1000),
  CHECK (NOT resumable OR downstream IS NOT NULL),
  CHECK ((response_status IS NULL) = (response_headers IS NULL)
     AND (response_status IS NULL) = (response_body IS NULL)),
  -- IN_PROGRESS has no answer yet; COMPLETED and FAILED have one, and an end; UNKNOWN never expires.
  CHECK (CASE state
           WHEN 1 THEN response_status IS NULL AND finished_at IS NULL AND expires_at IS NULL
           WHEN 4 THEN finished_at IS NULL AND expires_at IS NULL
           ELSE response_status IS NOT NULL AND finished_at IS NOT NULL AND expires_at IS NOT NULL
         END),
  CHECK ((resolved_by IS NULL) = (resolved_note IS NULL))
)
-- Room on each page for the answer, so that settling stays a heap-only update: no index holds a column that it changes.
WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- For retention only, which scans by age.
CREATE INDEX ON "idem_record"
  USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);

-- lz4 where this server was built with it; otherwise the server's default. EXECUTE, as servers before 14 cannot parse it.
DO $idem$
BEGIN
  IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    EXECUTE $idem_sql$ALTER TABLE "idem_record" ALTER COLUMN response_body SET COMPRESSION lz4$idem_sql$;
  END IF;
END
$idem$;

-- The record's primary key, for people at a psql prompt.
CREATE FUNCTION "idem_key_hash"(principal text, operation text, idempotency_key text) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT encode(substring(sha256(
           '\x01'::bytea
           || int8send(octet_length(convert_to(principal, 'UTF8'))) || convert_to(principal, 'UTF8')
           || int8send(octet_length(convert_to(operation, 'UTF8'))) || convert_to(operation, 'UTF8')
           || int8send(octet_length(convert_to(idempotency_key, 'UTF8'))) || convert_to(idempotency_key, 'UTF8')
         ) FROM 1 FOR 16), 'hex')::uuid
$$;
