-- What a status says with ENFORCE=false, and which statuses were set so: they have to be set again when rules are enforced.
ALTER TABLE gatehouse.reviews
  -- Null: not known, as in all rows of the version before.
  ADD COLUMN dry_run_description text;
ALTER TABLE gatehouse.posted_statuses
  -- The posted_at of a status that was set with ENFORCE=false. Another posted_at: the version before has set one since, which enforces.
  ADD COLUMN not_enforced_at timestamptz;
