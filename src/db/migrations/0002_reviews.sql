-- The last verdict on each pull request. The forge has the review itself; this tells which heads have one.
CREATE TABLE gatehouse.reviews (
  repository   text        NOT NULL,
  pull_request integer     NOT NULL,
  head_sha     text        NOT NULL,
  -- success, failure or error; none where no policy asks for a review.
  verdict      text        NOT NULL,
  description  text        NOT NULL,
  reviewed_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (repository, pull_request)
);

-- The repositories that deliveries have come from, in which missed ones are looked for.
CREATE TABLE gatehouse.repositories (
  name             text        PRIMARY KEY,
  -- The forge's id of the hook, '' where it names none.
  hook_id          text        NOT NULL,
  last_delivery_at timestamptz NOT NULL
);

-- How far back the next look for deliveries that the forge could not make has to go.
CREATE TABLE gatehouse.progress (
  task       text        PRIMARY KEY,
  done_until timestamptz NOT NULL
);
