-- A verdict belongs to one pull request, at one head commit, one base branch and one policy. Columns that the version
-- before does not know are null or have a default, so that its pods can go on writing while they are replaced.
ALTER TABLE gatehouse.reviews
  -- Null: not judged yet at this head and base.
  ALTER COLUMN verdict DROP NOT NULL,
  -- Null in the rows of the version before: they are judged again under their new name.
  ADD COLUMN base_branch text,
  -- The base branch's commit that the policy and CODEOWNERS were read at. Null: the verdict was not judged (a review that
  -- was given up), and a resync looks at it again.
  ADD COLUMN base_sha text,
  -- The pull request's page.
  ADD COLUMN url text NOT NULL DEFAULT '',
  -- False from when Gatehouse learns that it was closed until the row is deleted: the status that it had shared with other
  -- pull requests is computed without it in between.
  ADD COLUMN open boolean NOT NULL DEFAULT true,
  -- The number of the review that may write: the newest one that has begun. See review_fence.
  ADD COLUMN fence bigint NOT NULL DEFAULT 0,
  -- The name of the commit status that shows the verdict; null as long as none does.
  ADD COLUMN reported_as text,
  -- SHA-256, in hexadecimal, of what the verdict was judged by: the policy file of the base branch, the operator's policy
  -- file, the extended policy file and CODEOWNERS. Null where there is none, or where none was needed.
  ADD COLUMN policy_digest text,
  ADD COLUMN operator_policy_digest text,
  ADD COLUMN extends_digest text,
  ADD COLUMN code_owners_digest text,
  -- What the policy extends, as owner/repository@ref.
  ADD COLUMN extends_name text,
  -- When the forge last changed the pull request, as the review read it.
  ADD COLUMN pull_request_updated_at timestamptz;

-- Pull requests that share a head commit share its status.
CREATE INDEX reviews_head ON gatehouse.reviews (repository, head_sha);

-- Each review that begins takes the next number. A sequence, so that a number never comes again when a row is deleted.
CREATE SEQUENCE gatehouse.review_fence;
