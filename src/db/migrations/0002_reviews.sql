-- The last verdict on each pull request. It belongs to one head commit, one base branch and one policy.
CREATE TABLE gatehouse.reviews (
  repository               text        NOT NULL,
  pull_request             integer     NOT NULL,
  -- '': a review has begun, and none has read the pull request yet.
  head_sha                 text        NOT NULL DEFAULT '',
  base_branch              text        NOT NULL DEFAULT '',
  -- The pull request's page.
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
  -- When the verdict was saved, or the review began that saved none.
  reviewed_at              timestamptz NOT NULL DEFAULT now(),
  -- The name of the commit status that shows the verdict; null as long as none does.
  reported_as              text,
  -- Whether there may be comments of Gatehouse on the pull request. False: there were none, and none was posted since.
  -- Null: not known.
  commented                boolean,
  -- The forge's id of Gatehouse's comment in the conversation. Null: not known.
  comment_id               text,

  -- JudgedBy of src/review/judged-by.ts: digests of what it was judged by. Null: it was not judged (a review that was given up), and
  -- a resync looks at it again.
  judged_by                jsonb,
  -- Facts (src/facts/table.ts) that its policy asks for and that change without the pull request: a webhook about one of them starts
  -- this review again, and the resync reads them to compare.
  asks                     text[]      NOT NULL DEFAULT '{}',
  -- Ids of the comments whose overrides are in force. Null: the policy that judges it lets nobody override.
  overrides                text[],
  -- When somebody last had it judged again by a comment.
  rechecked_at             timestamptz,

  -- What was found out about the policy and the cases that a pull request proposes. Once for each digest: SHA-256 of both and of
  -- what the policy is merged with, in hexadecimal.
  preview_digest           text,
  -- Preview of src/jobs/tables/previews.ts.
  preview                  jsonb,

  PRIMARY KEY (repository, pull_request)
);

-- Who made a commit of an open pull request that a review has read, also of one that a force-push took away since: logins in lower
-- case, by the base branch at that time. Goes with the review.
CREATE TABLE gatehouse.seen_authors (
  repository   text    NOT NULL,
  pull_request integer NOT NULL,
  base_branch  text    NOT NULL,
  login        text    NOT NULL,
  PRIMARY KEY (repository, pull_request, base_branch, login),
  FOREIGN KEY (repository, pull_request) REFERENCES gatehouse.reviews ON DELETE CASCADE ON UPDATE CASCADE
);

-- Pull requests that share a head commit share its status.
CREATE INDEX reviews_head ON gatehouse.reviews (repository, head_sha);

-- Each review that begins takes the next number. A sequence, so that a number never comes again when a row is deleted.
CREATE SEQUENCE gatehouse.review_fence;

-- The status that Gatehouse set last on a commit, so that another one is written without reading the present one. It belongs to
-- the commit and not to a review: a head can be pushed again, or be that of another pull request. What is remembered here
-- only ever saves a request: nothing is left unwritten because of it.
CREATE TABLE gatehouse.posted_statuses (
  repository  text        NOT NULL,
  head_sha    text        NOT NULL,
  -- On GitHub in lower case: it compares the names of statuses without case.
  context     text        NOT NULL,
  -- Null: not known, because one is being written or its writing was cut short.
  state       text,
  description text,
  -- False: set with ENFORCE=false. It has to be set again when rules are enforced.
  enforced    boolean     NOT NULL DEFAULT true,
  -- How many statuses of this name the commit has. Null: not known, because others may have set some.
  written     integer,
  posted_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (repository, head_sha, context)
);
CREATE INDEX posted_statuses_age ON gatehouse.posted_statuses (posted_at);

-- Where a success may stand that no open pull request has earned: the forge refused to take the status, or the repository was renamed
-- or forgotten. Each resync tries again.
CREATE TABLE gatehouse.left_successes (
  repository  text        NOT NULL,
  head_sha    text        NOT NULL,
  context     text        NOT NULL,
  left_at     timestamptz NOT NULL DEFAULT now(),
  -- When a resync last tried to withdraw it. Null: none has yet.
  tried_at    timestamptz,
  PRIMARY KEY (repository, head_sha, context)
);

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
