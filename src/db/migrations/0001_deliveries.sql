-- Every delivery that was acknowledged, exactly as it came. Each day (UTC) is a partition: see src/inbox/days.ts.
CREATE TABLE gatehouse.deliveries (
  -- The hook that sent it, '' where the forge names none: two hooks of a repository may use one delivery id.
  hook_id      text        NOT NULL,
  delivery_id  text        NOT NULL,
  received_at  timestamptz NOT NULL DEFAULT now(),
  event        text        NOT NULL,
  repository   text,
  pull_request integer,
  -- Of the body as received.
  body_sha256  bytea       NOT NULL,
  -- The body's exact bytes, Zstandard-compressed (RFC 8878). Not jsonb, which refuses \u0000. Null: it is in a frame.
  body         bytea,
  -- No foreign key: it would be checked for each row, and frames are dropped after their deliveries.
  frame_id     uuid,
  -- Bytes of the decompressed frame.
  frame_offset integer,
  frame_length integer,
  CONSTRAINT one_body CHECK (num_nonnulls(body, frame_id) = 1)
) PARTITION BY RANGE (received_at);

-- Compressed already; trying again would only cost time.
ALTER TABLE gatehouse.deliveries ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE INDEX deliveries_delivery_id ON gatehouse.deliveries (delivery_id);
CREATE INDEX deliveries_received_at ON gatehouse.deliveries (received_at);
CREATE INDEX deliveries_repository ON gatehouse.deliveries (lower(repository), received_at);
CREATE INDEX deliveries_event ON gatehouse.deliveries (event, received_at);

-- The bodies of deliveries that were stored together, one after the other, Zstandard-compressed as one frame with a
-- checksum: they repeat one another.
CREATE TABLE gatehouse.frames (
  id          uuid        NOT NULL,
  -- The time of the transaction, as that of its deliveries: both are in the partition of one day.
  received_at timestamptz NOT NULL DEFAULT now(),
  bytes       bytea       NOT NULL,
  PRIMARY KEY (received_at, id)
) PARTITION BY RANGE (received_at);

ALTER TABLE gatehouse.frames ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Which deliveries have come already: the key makes that exact across days. A row is kept for as long as forges repeat
-- deliveries: see src/jobs/retention.ts.
CREATE TABLE gatehouse.delivery_keys (
  hook_id     text        NOT NULL,
  delivery_id text        NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- A body that comes again under another id can be told.
  body_sha256 bytea       NOT NULL,
  PRIMARY KEY (hook_id, delivery_id)
);

CREATE INDEX delivery_keys_received_at ON gatehouse.delivery_keys (received_at);
CREATE INDEX delivery_keys_body_sha256 ON gatehouse.delivery_keys USING hash (body_sha256);

-- The hooks that deliveries have come through, kept where deliveries are stored, so that a resync never has to read them.
CREATE TABLE gatehouse.hooks (
  repository      text NOT NULL,
  -- The forge's id of the hook, '' where it names none.
  hook_id         text NOT NULL,
  -- Failed deliveries of a repository's hook were looked for until then. Null: not yet.
  recovered_until timestamptz,
  PRIMARY KEY (repository, hook_id)
);

-- Which installation of a GitHub App an owner's repositories belong to, as payloads say. An account has one installation of an App.
CREATE TABLE gatehouse.installations (
  -- In lower case.
  owner           text   PRIMARY KEY,
  installation_id bigint NOT NULL
);

-- The oldest schema number that code may know and still run against this database. A migration that
-- breaks older code raises it in its own file.
CREATE TABLE gatehouse.schema_compatibility (
  only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  oldest_reader integer NOT NULL
);
INSERT INTO gatehouse.schema_compatibility (oldest_reader) VALUES (1);
