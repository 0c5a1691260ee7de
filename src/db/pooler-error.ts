/** The database is behind a connection pooler that Gatehouse cannot work with. */
export class PoolerError extends Error {
  override readonly name = 'PoolerError';
  constructor() {
    super(`DATABASE_URL ${TRANSACTION_POOLING}; ${USE_SESSIONS}`);
  }
}

export const TRANSACTION_POOLING = 'leads to a connection pooler in transaction or statement mode';
export const USE_SESSIONS = 'use its session mode, or the address of PostgreSQL itself';
