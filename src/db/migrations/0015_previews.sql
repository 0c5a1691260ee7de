-- What the policy that a pull request proposes would mean for the other open pull requests. Made once for each digest.
ALTER TABLE gatehouse.reviews
  -- SHA-256 of the proposed policy and of what it is merged with, in hexadecimal.
  ADD COLUMN preview_digest text,
  -- { judged: [{ number, state, rules, now }], leftOut }. Null: its author may not write to the repository.
  ADD COLUMN preview jsonb;
