-- The bodies of deliveries that were stored together, one after the other, Zstandard-compressed (RFC 8878) as one frame with a
-- checksum: they repeat one another. A row is deleted when none of its deliveries is left.
CREATE TABLE gatehouse.frames (
  id          uuid        PRIMARY KEY,
  -- The time of the transaction, as that of its deliveries.
  received_at timestamptz NOT NULL DEFAULT now(),
  bytes       bytea       NOT NULL
);

-- Compressed already; trying again would only cost time.
ALTER TABLE gatehouse.frames ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE INDEX frames_received_at ON gatehouse.frames (received_at);

-- A delivery has its own body or a part of a frame. The version before stores bodies only, and reports an error for a delivery
-- whose body is in a frame. No foreign key: it would be checked for each row, and frames are deleted after their deliveries.
ALTER TABLE gatehouse.deliveries
  ALTER COLUMN body DROP NOT NULL,
  ADD COLUMN frame_id uuid,
  -- Bytes of the decompressed frame.
  ADD COLUMN frame_offset integer,
  ADD COLUMN frame_length integer;
