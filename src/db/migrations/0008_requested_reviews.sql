-- A review that is requested, or no longer requested, is looked up here, so that the forge is asked only for a policy that waits for one.
ALTER TABLE gatehouse.reviews
  -- Whether the policy that judges it asks for requested reviews. Null: not known to.
  ADD COLUMN asks_requested_reviews boolean;
