-- What a resync needs is kept where deliveries are stored, so that it never has to read them.

-- The hooks that deliveries have come through. hook_id is '' where the forge names none.
CREATE TABLE gatehouse.hooks (
  repository text NOT NULL,
  hook_id    text NOT NULL,
  PRIMARY KEY (repository, hook_id)
);
INSERT INTO gatehouse.hooks SELECT name, hook_id FROM gatehouse.repositories;
INSERT INTO gatehouse.hooks
SELECT DISTINCT repository, hook_id FROM gatehouse.deliveries
 WHERE repository IS NOT NULL
   AND received_at >= coalesce((SELECT max(last_delivery_at) FROM gatehouse.repositories), '-infinity')
ON CONFLICT DO NOTHING;

-- hook_id and last_delivery_at are written by the version before only.
ALTER TABLE gatehouse.repositories
  ALTER COLUMN hook_id SET DEFAULT '',
  ALTER COLUMN last_delivery_at SET DEFAULT now(),
  -- When a resync last looked at it; null: never.
  ADD COLUMN resynced_at timestamptz;

-- Deliveries that the forge reports as failed, so that none is requested for ever. Kept as long as the forge lists them.
CREATE TABLE gatehouse.failed_deliveries (
  -- '' for the webhook of an App.
  repository    text        NOT NULL,
  hook_id       text        NOT NULL,
  guid          text        NOT NULL,
  -- The HTTP status of the answer, 0 where there was none.
  status        integer     NOT NULL,
  -- How often a redelivery was requested.
  redeliveries  integer     NOT NULL DEFAULT 0,
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (repository, hook_id, guid)
);
