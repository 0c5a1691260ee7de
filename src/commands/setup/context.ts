import type { SetupConnection } from '../../forges/setup/connection.ts';
import type { Settings } from './files.ts';
import type { SetupOptions } from './options.ts';

/** What setup may use at a forge. */
export interface SetupContext {
  readonly options: SetupOptions;
  readonly connection: SetupConnection;
  readonly say: (line: string) => void;
}

/** Credentials and the webhook's secret, and how to require a status: what to post to a path below the repository's. */
export interface ForgeResult {
  readonly settings: Settings;
  requirementOf(branch: string, context: string): { readonly path: string; readonly body: object };
  /** What is done at the forge only when the settings are safe in their files. */
  afterWriting?(): Promise<void>;
}
