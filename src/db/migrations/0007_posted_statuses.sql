-- The status that Gatehouse set last on a commit, so that another one is written without reading the present one. It belongs to
-- the commit and not to a review: a head can be pushed again, or be that of another pull request. What is remembered here
-- only ever saves a request: nothing is left unwritten because of it.
CREATE TABLE gatehouse.posted_statuses (
  repository  text        NOT NULL,
  head_sha    text        NOT NULL,
  -- In lower case: forges compare the names of statuses without case.
  context     text        NOT NULL,
  -- Null: not known, because one is being written or its writing was cut short.
  state       text,
  description text,
  posted_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (repository, head_sha, context)
);
CREATE INDEX posted_statuses_age ON gatehouse.posted_statuses (posted_at);

-- Those of the version before: something stands, and which one is not known.
INSERT INTO gatehouse.posted_statuses (repository, head_sha, context)
SELECT DISTINCT repository, head_sha, lower(reported_as) FROM gatehouse.reviews WHERE reported_as IS NOT NULL;

-- Whether there may be comments of Gatehouse on the pull request. False: there were none, and none was posted since. Null:
-- not known, as in all rows of the version before.
ALTER TABLE gatehouse.reviews
  ADD COLUMN commented boolean,
  -- SHA-256 of everything that the verdict depends on; null where it depends on more than the pull request says. A pull request
  -- with the same one is not judged again.
  ADD COLUMN judged_state text,
  -- The reviewed_at that it belongs to: the version before saves a verdict and leaves judged_state alone.
  ADD COLUMN judged_state_at timestamptz;
