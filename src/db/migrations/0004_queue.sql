-- What the periodic jobs know and have done. The jobs themselves are in the job engine's own schema.

-- The last count of the job queues. One process counts them for all: see src/jobs/queue/queue-stats.ts.
CREATE TABLE gatehouse.queue_counts (
  only_row   boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
  counted_at timestamptz NOT NULL DEFAULT '-infinity',
  counts     jsonb       NOT NULL DEFAULT '[]'
);
INSERT INTO gatehouse.queue_counts DEFAULT VALUES;

-- Until when a task has done its work, and so where it goes on.
CREATE TABLE gatehouse.progress (
  task       text        PRIMARY KEY,
  done_until timestamptz NOT NULL
);

-- The repositories that deliveries have come from, which the resync looks at.
CREATE TABLE gatehouse.repositories (
  name        text        PRIMARY KEY,
  -- Whether the present or the next round has to look at it.
  due         boolean     NOT NULL DEFAULT true,
  -- Whether its branches may have moved since the ledger looked at them.
  ledger_due  boolean     NOT NULL DEFAULT true,
  -- When a resync last looked at it; null: never.
  resynced_at timestamptz,
  -- The forge's id, where its list of changes covers the repository (Gitea, Forgejo). Null: every round looks at it.
  listed_id   text
);

-- Deliveries that the forge reports as failed, so that none is requested forever. Kept as long as the forge lists them.
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
