-- Every delivery that was acknowledged, exactly as it came.
CREATE TABLE gatehouse.deliveries (
  -- The hook that sent it, '' where the forge names none: two hooks of a repository may use one delivery id.
  hook_id      text        NOT NULL,
  delivery_id  text        NOT NULL,
  received_at  timestamptz NOT NULL DEFAULT now(),
  event        text        NOT NULL,
  repository   text,
  pull_request integer,
  -- Of the body as received: a body that comes again under another id can be told.
  body_sha256  bytea       NOT NULL,
  -- The body's exact bytes, Zstandard-compressed (RFC 8878). Not jsonb, which refuses \u0000.
  body         bytea       NOT NULL,
  PRIMARY KEY (hook_id, delivery_id)
);

-- Compressed already; trying again would only cost time.
ALTER TABLE gatehouse.deliveries ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE INDEX deliveries_received_at ON gatehouse.deliveries (received_at);
CREATE INDEX deliveries_body_sha256 ON gatehouse.deliveries USING hash (body_sha256);

-- The oldest schema number that code may know and still run against this database. A migration that
-- breaks older code raises it in its own file.
CREATE TABLE gatehouse.schema_compatibility (
  only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  oldest_reader integer NOT NULL
);
INSERT INTO gatehouse.schema_compatibility (oldest_reader) VALUES (1);
