-- The organisation's baseline of each owner: the last one that could be used stays in force when its repository is lost or broken.
CREATE TABLE gatehouse.baselines (
  -- owner/name of the policy repository, in lower case.
  repository text        PRIMARY KEY,
  -- BaselineRow of src/jobs/tables/baselines.ts, as JSON. Not jsonb, which refuses U+0000: the policy may have any text.
  state      text        NOT NULL,
  -- The same, for those who count.
  in_force   boolean     NOT NULL,
  problem    text,
  -- Rises with each change, so that what was read earlier does not replace what was read later.
  revision   bigint      NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE gatehouse.reviews
  -- SHA-256 of the baseline that the verdict was judged by, and the commit that it was read at. Null where there was none.
  ADD COLUMN baseline_digest text,
  ADD COLUMN baseline_commit text,
  -- The reviewed_at that they belong to: the version before saves a verdict and leaves them alone.
  ADD COLUMN baseline_at timestamptz;
