-- A commit about which somebody reports a check is looked up here, so that the forge is asked only for a policy that waits for one.
ALTER TABLE gatehouse.reviews
  -- SHA-256, in hexadecimal, of what others had reported about the head when it was judged. Null: no policy asks for checks. Empty:
  -- they are being read.
  ADD COLUMN checks_digest text;
