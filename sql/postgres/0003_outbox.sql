-- idem schema version 3: the outbox.

INSERT INTO "idem_schema_version" (version) VALUES (3);
