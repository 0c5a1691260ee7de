-- The last count of the job queues. One process counts them for all: see src/jobs/queue/queue-stats.ts.
CREATE TABLE gatehouse.queue_counts (
  only_row   boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
  counted_at timestamptz NOT NULL DEFAULT '-infinity',
  counts     jsonb       NOT NULL DEFAULT '[]'
);
INSERT INTO gatehouse.queue_counts DEFAULT VALUES;
