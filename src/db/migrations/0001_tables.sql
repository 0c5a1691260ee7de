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

-- Which installation of a GitHub App an owner's repositories belong to, as payloads say. An account has one installation of an App.
CREATE TABLE gatehouse.installations (
  -- In lower case.
  owner           text   PRIMARY KEY,
  installation_id bigint NOT NULL
);

-- The oldest schema number that code may know and still run against this database. A migration that
-- breaks older code replaces it in its own file.
CREATE FUNCTION gatehouse.oldest_reader() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';

-- The last verdict on each pull request. It belongs to one head commit, one base branch and one policy.
CREATE TABLE gatehouse.reviews (
  repository               text        NOT NULL,
  pull_request             integer     NOT NULL,
  -- '': a review has begun, and none has read the pull request yet.
  head_sha                 text        NOT NULL DEFAULT '',
  base_branch              text        NOT NULL DEFAULT '',
  -- The pull request's page, or Gatehouse's comment there.
  url                      text        NOT NULL DEFAULT '',
  -- When the forge last changed the pull request, as the review read it.
  pull_request_updated_at  timestamptz,
  -- False from when Gatehouse learns that it was closed until the row is deleted: the status that it had shared with other
  -- pull requests is computed without it in between.
  open                     boolean     NOT NULL DEFAULT true,
  -- The number of the review that may write: the newest one that has begun. See review_fence.
  fence                    bigint      NOT NULL DEFAULT 0,

  -- success, failure, pending or error; none where no policy asks for a review. Null: not judged yet at this head and base.
  verdict                  text,
  description              text        NOT NULL DEFAULT '',
  -- What the status says with ENFORCE=false. Null: the same.
  dry_run_description      text,
  -- When the verdict was saved, or the review began that saved none, or found that nothing can be judged.
  reviewed_at              timestamptz NOT NULL DEFAULT now(),

  -- RuleSources of src/review/rules-of.ts: digests of the texts that it was judged by. Null: it was not judged (a review that was
  -- given up), and a resync looks at it again.
  rules                    jsonb,
  -- UnseenPushes of src/review/judge.ts. Null: it does not matter who pushed.
  pushes                   jsonb,
  -- inputsDigest of src/review/inputs.ts: where it is the same, the verdict stands. Null: that takes more than a digest.
  inputs_digest            text,
  -- Facts (src/facts/table.ts) that its policy asks for and that webhooks tell of: one about such a fact starts this review again.
  asks                     text[]      NOT NULL DEFAULT '{}',
  -- Ids of the comments whose overrides are in force. Null: the policy that judges it lets nobody override.
  overrides                text[],
  -- When somebody last had it judged again by a comment.
  rechecked_at             timestamptz,

  PRIMARY KEY (repository, pull_request)
);
-- Successes that can end without a webhook: see src/jobs/resync/turns.ts.
CREATE INDEX reviews_unseen ON gatehouse.reviews (reviewed_at) WHERE verdict = 'success' AND open AND inputs_digest IS NULL;

-- Who made what pull requests bring: who made commits that a review has read, and who pushed, as webhooks tell. Also of commits that a
-- force-push took away since, and when the pull request is closed: see src/jobs/retention.ts.
CREATE TABLE gatehouse.makers (
  repository   text        NOT NULL,
  -- 0: a push to a branch of the repository, whichever pull requests have its commit. A review of one from there copies it to its own.
  pull_request integer     NOT NULL,
  -- Of who made a commit: the base branch at that time. Of a push: ''.
  base_branch  text        NOT NULL DEFAULT '',
  -- The commit that was pushed, with those below it. '': this login made a commit.
  sha          text        NOT NULL DEFAULT '',
  -- In lower case. '': who pushed is not known.
  login        text        NOT NULL,
  -- What the branch was before the push. Null: not known. '': different branches were moved to it from different commits.
  pushed_from  text,
  -- Whether a review has found that the push brought merges alone.
  is_update    boolean     NOT NULL DEFAULT false,
  -- When it was told, or the review of its pull request ended.
  seen_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (repository, pull_request, base_branch, sha, login)
);
CREATE INDEX makers_seen_at ON gatehouse.makers (seen_at);

-- Pull requests that share a head commit share its status.
CREATE INDEX reviews_head ON gatehouse.reviews (repository, head_sha);

-- Each review that begins takes the next number. A sequence, so that a number never comes again when a row is deleted.
CREATE SEQUENCE gatehouse.review_fence;

-- What Gatehouse shows on a commit under one name: a row for each such place. src/jobs/publisher alone posts.
CREATE TABLE gatehouse.statuses (
  repository   text        NOT NULL,
  head_sha     text        NOT NULL,
  -- The name of the status, on GitHub in lower case: it compares names without case.
  key          text        NOT NULL,
  context      text        NOT NULL,
  -- The last post that was carried out. Null: none was, or it is not known.
  state        text,
  description  text,
  -- How many posts have begun, and the number of the newest that has ended. Where they differ, one is under way, or its process
  -- has died.
  posting      integer     NOT NULL DEFAULT 0,
  answered     integer     NOT NULL DEFAULT 0,
  -- Until then a post that was not answered may still be carried out. What stands is known again after one that began later.
  unsure_until timestamptz,
  -- When the newest post began.
  posted_at    timestamptz NOT NULL DEFAULT now(),
  -- The base branch that a verdict was last shown for. Null: no verdict ever was.
  judged_base  text,
  -- What was shown there has been merged: it may stay.
  merged       boolean     NOT NULL DEFAULT false,
  -- { state, description } of the merge group with this commit. Null: there is none.
  merge_group  jsonb,
  -- Statuses were seen there that Gatehouse does not remember: somebody else's, or its own from before the database was lost.
  uncounted    boolean     NOT NULL DEFAULT false,
  -- all, no success (it could be the last that the forge takes), or nothing any more.
  takes        text        NOT NULL DEFAULT 'all',
  PRIMARY KEY (repository, head_sha, key)
);
CREATE INDEX statuses_posted_at ON gatehouse.statuses (posted_at);

-- Comments with a command to override, as their webhooks report them. Gitea and Forgejo tell the time of an edit in seconds, so
-- that one in the second of the posting is known from its webhook alone.
CREATE TABLE gatehouse.override_comments (
  repository   text        NOT NULL,
  comment_id   text        NOT NULL,
  pull_request integer     NOT NULL,
  -- SHA-256, in hexadecimal, of the text that it was posted with. Null: it was edited.
  digest       text,
  seen_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (repository, comment_id)
);
CREATE INDEX override_comments_pull_request ON gatehouse.override_comments (repository, pull_request);
CREATE INDEX override_comments_seen_at ON gatehouse.override_comments (seen_at);

-- The repositories that policies extend, each as it was when it was read first: its name can be given to another one.
CREATE TABLE gatehouse.extended_repositories (
  -- owner/name in lower case.
  name          text        PRIMARY KEY,
  -- The forge's ids of the repository and of its owner.
  id            text        NOT NULL,
  owner_id      text        NOT NULL,
  first_read_at timestamptz NOT NULL DEFAULT now()
);

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

-- The record of verdicts. Rows are only ever added; retention drops whole months. Partitions are made by src/audit/partitions.ts, when
-- the first row of a month comes.

-- One row for each verdict that differs from the one before in anything but the time.
CREATE TABLE gatehouse.audit_verdicts (
  -- When the delivery was stored that the review began with.
  asked_at               timestamptz NOT NULL,
  answered_at            timestamptz NOT NULL DEFAULT now(),
  repository             text        NOT NULL,
  -- 0: of a merge group whose branch does not name one.
  pull_request           integer     NOT NULL,
  -- The commit of the merge group that the pull request was judged for; null: for its own head.
  merge_group_sha        text,
  author                 text        NOT NULL,
  head_sha               text        NOT NULL,
  base_branch            text        NOT NULL,
  -- Null: it was given up, and nothing was read.
  base_sha               text,
  -- success, failure, error or pending; none where there is no policy any more.
  state                  text        NOT NULL,
  description            text        NOT NULL,
  -- False: the status is success whatever the verdict.
  enforced               boolean     NOT NULL DEFAULT true,
  -- The digests are in audit_texts. Null where there is none, or where none was needed.
  policy_digest          text,
  operator_policy_digest text,
  -- owner/repository@ref, as the policy says it.
  extends_name           text,
  extends_digest         text,
  -- The commit that the organisation's baseline was read at.
  baseline_sha           text,
  baseline_digest        text,
  code_owners_digest     text,
  -- [{ id, level, outcome, source, reasons, places, redSince }]. Places are path and line, never content. Null: nothing was evaluated.
  rules                  jsonb,
  -- [{ file, line }] of what is wrong with the policy, or with the proposed one.
  faults                 jsonb       NOT NULL DEFAULT '[]',
  -- [{ login, sha, at }]. Null: no rule asks for reviews.
  approvals              jsonb,
  -- [{ rule, login, reason, comment, at }]
  overrides              jsonb       NOT NULL DEFAULT '[]',
  -- SHA-256 of all that is not a time.
  digest                 bytea       NOT NULL
) PARTITION BY RANGE (answered_at);
CREATE INDEX audit_verdicts_pull_request ON gatehouse.audit_verdicts (lower(repository), pull_request, answered_at);
CREATE INDEX audit_verdicts_repository ON gatehouse.audit_verdicts (lower(repository), answered_at);
CREATE INDEX audit_verdicts_answered_at ON gatehouse.audit_verdicts (answered_at);

-- One row for each status that was posted and differs from the one before.
CREATE TABLE gatehouse.audit_postings (
  posted_at   timestamptz NOT NULL DEFAULT now(),
  repository  text        NOT NULL,
  head_sha    text        NOT NULL,
  context     text        NOT NULL,
  state       text        NOT NULL,
  description text        NOT NULL,
  -- What the status links to.
  url         text
) PARTITION BY RANGE (posted_at);
CREATE INDEX audit_postings_head ON gatehouse.audit_postings (lower(repository), head_sha, posted_at);
CREATE INDEX audit_postings_repository ON gatehouse.audit_postings (lower(repository), posted_at);
CREATE INDEX audit_postings_posted_at ON gatehouse.audit_postings (posted_at);

-- What verdicts were judged by: each text once a month, so that it is dropped together with the verdicts that name it.
CREATE TABLE gatehouse.audit_texts (
  month  date  NOT NULL,
  -- SHA-256, in hexadecimal, as src/review/sources.ts makes it.
  digest text  NOT NULL,
  path   text  NOT NULL,
  -- UTF-8. Not text, which refuses \u0000.
  body   bytea NOT NULL,
  PRIMARY KEY (month, digest)
) PARTITION BY RANGE (month);

-- For gatehouse report, which would have to read all verdicts without it.
CREATE TABLE gatehouse.audit_rule_changes (
  changed_at   timestamptz NOT NULL DEFAULT now(),
  repository   text        NOT NULL,
  pull_request integer     NOT NULL,
  rule         text        NOT NULL,
  -- failed, overridden or passed
  change       text        NOT NULL,
  -- Of passed: how long it had not held.
  seconds      integer
) PARTITION BY RANGE (changed_at);
CREATE INDEX audit_rule_changes_repository ON gatehouse.audit_rule_changes (lower(repository), changed_at);

-- What came to a branch: each merged pull request that Gatehouse was told of, and each push to a default branch that none brought.
CREATE TABLE gatehouse.merges (
  recorded_at   timestamptz NOT NULL DEFAULT now(),
  -- By the forge; of a push, when its webhook came.
  merged_at     timestamptz NOT NULL,
  -- The forge's id, which stays when the repository is renamed.
  repository_id text        NOT NULL,
  repository    text        NOT NULL,
  -- Null: a push that no pull request brought.
  pull_request  integer,
  base_branch   text        NOT NULL,
  head_sha      text,
  -- What it became on the base branch; of a push, its newest commit.
  merge_sha     text,
  -- Login of who merged or pushed.
  merged_by     text,
  -- See OUTCOMES in src/audit/merges.ts.
  outcome       text        NOT NULL,
  -- The state of the last verdict on the head.
  verdict       text,
  -- [{ rule, login, reason, comment, at }], where the outcome is overridden.
  overrides     jsonb       NOT NULL DEFAULT '[]'
) PARTITION BY RANGE (recorded_at);
CREATE INDEX merges_pull_request ON gatehouse.merges (repository_id, pull_request);
CREATE INDEX merges_repository ON gatehouse.merges (lower(repository), merged_at);
CREATE INDEX merges_merged_at ON gatehouse.merges (merged_at);

-- Nobody changes a row, not even the owner of the tables. A statement may be about no row at all: it is refused as well.
CREATE FUNCTION gatehouse.refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% on %.% is refused: the record is append-only', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
    USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gatehouse.audit_verdicts
  FOR EACH STATEMENT EXECUTE FUNCTION gatehouse.refuse_audit_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gatehouse.audit_postings
  FOR EACH STATEMENT EXECUTE FUNCTION gatehouse.refuse_audit_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gatehouse.audit_texts
  FOR EACH STATEMENT EXECUTE FUNCTION gatehouse.refuse_audit_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gatehouse.audit_rule_changes
  FOR EACH STATEMENT EXECUTE FUNCTION gatehouse.refuse_audit_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gatehouse.merges
  FOR EACH STATEMENT EXECUTE FUNCTION gatehouse.refuse_audit_change();

REVOKE UPDATE, DELETE, TRUNCATE
  ON gatehouse.audit_verdicts, gatehouse.audit_postings, gatehouse.audit_texts, gatehouse.audit_rule_changes, gatehouse.merges
  FROM CURRENT_USER;

-- What the periodic jobs know and have done. The jobs themselves are in the job engine's own schema.

-- Until when a task has done its work, and so where it goes on.
CREATE TABLE gatehouse.progress (
  task       text        PRIMARY KEY,
  done_until timestamptz NOT NULL,
  -- What it found. Null: it keeps nothing.
  value      jsonb
);
-- One process counts the job queues for all, and locks this row: see src/jobs/queue/queue-stats.ts.
INSERT INTO gatehouse.progress (task, done_until) VALUES ('count-queues', '-infinity');

-- The repositories that deliveries have come from, which the resync looks at.
CREATE TABLE gatehouse.repositories (
  name        text        PRIMARY KEY,
  -- Whether a policy was ever in force for one of its pull requests. Before that none of them is told that it could not be reviewed.
  governed    boolean     NOT NULL DEFAULT false,
  -- Whether the present or the next round has to look at it.
  due         boolean     NOT NULL DEFAULT true,
  -- When a resync last looked at it; null: never.
  resynced_at timestamptz,
  -- The forge's id, where its list of changes covers the repository (Gitea, Forgejo). Null: every round looks at it.
  listed_id   text
);
