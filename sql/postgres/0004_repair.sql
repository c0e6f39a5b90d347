-- idem schema version 4: what a settlement shows that the records do not know yet.

INSERT INTO "idem_schema_version" (version) VALUES (4);

CREATE TABLE "idem_repair" (
  -- Made of the record's key, its generation and what the settlement says, so that the same file queues it once.
  repair_key      uuid        PRIMARY KEY,
  principal       text        COLLATE "C" NOT NULL CHECK (octet_length(principal) BETWEEN 1 AND 255),
  operation       text        COLLATE "C" NOT NULL CHECK (octet_length(operation) BETWEEN 1 AND 255),
  idempotency_key text        COLLATE "C" NOT NULL CHECK (octet_length(idempotency_key) BETWEEN 1 AND 255),
  -- Who held the UNKNOWN record, which it is settled under.
  fence           bigint      NOT NULL CHECK (fence > 0),
  attempt         uuid        NOT NULL,
  generation      bigint      NOT NULL CHECK (generation BETWEEN 1 AND fence),
  downstream_key  uuid        NOT NULL,
  -- 1 charged, 2 declined, 3 not charged: a closed settlement has no entry.
  repair_as       smallint    NOT NULL CHECK (repair_as BETWEEN 1 AND 3),
  -- The settlement's entry.
  amount          bigint      CHECK (amount >= 0),
  reference       text        COLLATE "C" CHECK (octet_length(reference) <= 255),
  entry_at        timestamptz,
  queued_at       timestamptz NOT NULL,
  queued_by       text        NOT NULL CHECK (octet_length(queued_by) BETWEEN 1 AND 255),
  done_at         timestamptz,
  note            text        CHECK (octet_length(note) BETWEEN 1 AND 1000),
  CHECK (CASE repair_as WHEN 3 THEN amount IS NULL AND reference IS NULL AND entry_at IS NULL
                        ELSE amount IS NOT NULL AND reference IS NOT NULL END),
  CHECK ((done_at IS NULL) = (note IS NULL))
);

CREATE INDEX ON "idem_repair" (operation, queued_at, repair_key) WHERE done_at IS NULL;

-- The key that the downstream was handed. One expression, and STABLE as convert_to() is, so that the planner puts it in
-- the place of a call: a third of the time. The bits are a UUID's version and variant.
CREATE FUNCTION "idem_downstream_key"(principal text, operation text, idempotency_key text, fingerprint bytea)
RETURNS uuid
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT encode(substring(bit_send(('x' || encode(substring(sha256(
           int8send(22) || 'idem downstream key v1'::bytea
           || int8send(octet_length(convert_to(principal, 'UTF8'))) || convert_to(principal, 'UTF8')
           || int8send(octet_length(convert_to(operation, 'UTF8'))) || convert_to(operation, 'UTF8')
           || int8send(octet_length(convert_to(idempotency_key, 'UTF8'))) || convert_to(idempotency_key, 'UTF8')
           || int8send(octet_length(fingerprint)) || fingerprint
         ) FROM 1 FOR 16), 'hex'))::bit(128)
           & X'ffffffffffff0fff3fffffffffffffff'
           | X'00000000000080008000000000000000') FROM 5), 'hex')::uuid
$$;

-- The same for a downstream that never forgets a key: one for each generation.
CREATE FUNCTION "idem_downstream_key"(principal text, operation text, idempotency_key text, fingerprint bytea,
                                      generation bigint)
RETURNS uuid
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT encode(substring(bit_send(('x' || encode(substring(sha256(
           int8send(33) || 'idem downstream key v1 generation'::bytea
           || int8send(octet_length(convert_to(principal, 'UTF8'))) || convert_to(principal, 'UTF8')
           || int8send(octet_length(convert_to(operation, 'UTF8'))) || convert_to(operation, 'UTF8')
           || int8send(octet_length(convert_to(idempotency_key, 'UTF8'))) || convert_to(idempotency_key, 'UTF8')
           || int8send(octet_length(fingerprint)) || fingerprint
           || int8send(octet_length(generation::text)) || convert_to(generation::text, 'UTF8')
         ) FROM 1 FOR 16), 'hex'))::bit(128)
           & X'ffffffffffff0fff3fffffffffffffff'
           | X'00000000000080008000000000000000') FROM 5), 'hex')::uuid
$$;
