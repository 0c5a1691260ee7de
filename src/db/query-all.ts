import type pg from 'pg';

/** Sends several statements at once. Returns the result of each. */
export async function queryAll(client: pg.ClientBase, statements: string): Promise<readonly pg.QueryResult[]> {
  const results: pg.QueryResult | pg.QueryResult[] = await client.query(statements);
  return Array.isArray(results) ? results : [results];
}
