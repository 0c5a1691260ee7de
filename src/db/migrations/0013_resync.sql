-- What a resync needs to send few requests.
ALTER TABLE gatehouse.repositories
  -- Whether the present or the next round has to look at it.
  ADD COLUMN due boolean NOT NULL DEFAULT true,
  -- The forge's id, where its list of changes covers the repository (Gitea, Forgejo). Null: every round looks at it.
  ADD COLUMN listed_id text;

-- Failed deliveries of a repository's hook were looked for until then. Null: not yet.
ALTER TABLE gatehouse.hooks ADD COLUMN recovered_until timestamptz;

-- Which installation of a GitHub App an owner's repositories belong to, as payloads say. An account has one installation of an App.
CREATE TABLE gatehouse.installations (
  -- In lower case.
  owner           text   PRIMARY KEY,
  installation_id bigint NOT NULL
);
