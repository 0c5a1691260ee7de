ALTER TABLE gatehouse.reviews
  -- Ids of the comments whose overrides are in force. Null: the policy that judges it lets nobody override.
  ADD COLUMN overrides text[],
  -- When somebody last had it judged again by a comment.
  ADD COLUMN rechecked_at timestamptz;

-- Comments with a command to override, as their webhooks report them. Gitea and Forgejo tell the time of an edit in seconds, so
-- that one in the second of the posting is known from its webhook alone.
CREATE TABLE gatehouse.override_comments (
  repository text NOT NULL,
  comment_id text NOT NULL,
  pull_request integer NOT NULL,
  -- SHA-256, in hexadecimal, of the text that it was posted with. Null: it was edited.
  digest text,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (repository, comment_id)
);

CREATE INDEX override_comments_pull_request ON gatehouse.override_comments (repository, pull_request);
CREATE INDEX override_comments_seen_at ON gatehouse.override_comments (seen_at);
