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

-- The ledger: what came to the watched branches, and by which verdict. Each repository has a chain of entries: an entry names the
-- hash of the one before it. See src/audit/ledger.
CREATE TABLE gatehouse.ledger (
  recorded_at timestamptz NOT NULL,
  -- The forge's id of the repository, which stays when it is renamed.
  chain       text        NOT NULL,
  -- In the chain, from 1.
  position    bigint      NOT NULL,
  -- LedgerEntry of src/audit/ledger/entry.ts, as JSON, byte by byte as it was hashed.
  entry       text        NOT NULL,
  -- SHA-256 of it, in hexadecimal.
  hash        text        NOT NULL
) PARTITION BY RANGE (recorded_at);
CREATE INDEX ledger_chain ON gatehouse.ledger (chain, position);
CREATE INDEX ledger_recorded_at ON gatehouse.ledger (recorded_at);

-- Where each chain ends.
CREATE TABLE gatehouse.ledger_chains (
  chain      text   PRIMARY KEY,
  -- Its name when it was last looked at.
  repository text   NOT NULL,
  -- Its names before: [{ name, until }], in lower case.
  former     jsonb  NOT NULL DEFAULT '[]',
  position   bigint NOT NULL DEFAULT 0,
  hash       text   NOT NULL DEFAULT '',
  -- When its last entry was recorded; null: it has none.
  recorded_at timestamptz,
  -- Since when the repository is gone or hidden; null: it is not.
  forgotten_at timestamptz,
  -- When all its watched branches were looked at last.
  looked_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ledger_chains_repository ON gatehouse.ledger_chains (lower(repository));

-- Up to which commit each watched branch is in the ledger.
CREATE TABLE gatehouse.ledger_branches (
  chain  text NOT NULL,
  branch text NOT NULL,
  tip    text NOT NULL,
  -- Just before the tip was read: pushes that were received later may not be in it.
  looked_at timestamptz NOT NULL,
  -- A commit that came without a pull request, and when it was first seen: the forge may need a moment to name one.
  seen_sha text,
  seen_at  timestamptz,
  PRIMARY KEY (chain, branch)
);

-- Branches that a policy has judged pull requests into. The default branch is watched anyway.
CREATE TABLE gatehouse.watched_branches (
  -- In lower case.
  repository text NOT NULL,
  branch     text NOT NULL,
  PRIMARY KEY (repository, branch)
);

-- What webhooks say of pushes to watched branches: no forge tells afterwards who pushed.
CREATE TABLE gatehouse.pushes (
  id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The forge's id of the repository: another one may have its name by now.
  chain       text        NOT NULL,
  branch      text        NOT NULL,
  before_sha  text        NOT NULL,
  after_sha   text        NOT NULL,
  -- Login.
  pusher      text,
  -- When the webhook came, and when it was noted here. Of the last one, where the same was pushed twice.
  delivered_at timestamptz NOT NULL,
  received_at  timestamptz NOT NULL DEFAULT now(),
  -- Whether the ledger has what it did. Its time does not tell: a row may be committed after a later look at the branch.
  in_ledger   boolean     NOT NULL DEFAULT false,
  UNIQUE (chain, branch, before_sha, after_sha)
);
CREATE INDEX pushes_received_at ON gatehouse.pushes (received_at);

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gatehouse.ledger
  FOR EACH STATEMENT EXECUTE FUNCTION gatehouse.refuse_audit_change();

REVOKE UPDATE, DELETE, TRUNCATE
  ON gatehouse.audit_verdicts, gatehouse.audit_postings, gatehouse.audit_texts, gatehouse.audit_rule_changes, gatehouse.ledger
  FROM CURRENT_USER;
