/** The SQLSTATE of a database error, as PostgreSQL's appendix A lists them; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

export const UNDEFINED_TABLE = '42P01';
export const UNDEFINED_FUNCTION = '42883';
export const INVALID_SCHEMA_NAME = '3F000';
export const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';

/** A row that no partition of its table takes. PostgreSQL names no constraint then. */
export function isMissingPartition(error: unknown): boolean {
  const constraint = error instanceof Error && 'constraint' in error ? error.constraint : undefined;
  return sqlState(error) === CHECK_VIOLATION && constraint === undefined;
}

/**
 * Classes 22 (data exception), 23 (constraint violation) and 54 (limit exceeded): the row's fault, not the database's.
 */
export function isDataFault(error: unknown): boolean {
  return /^(22|23|54)/.test(sqlState(error) ?? '') && !isMissingPartition(error);
}
