import type { ForgeName } from '../../forges/port/forges.ts';
import type { SetupConnection } from '../../forges/setup/connection.ts';
import type { Required, WantedStatus } from '../../forges/setup/required-status.ts';
import type { Settings } from './files.ts';
import type { SetupOptions } from './options.ts';
import type { StartTimer } from './page.ts';
import type { Questions } from './questions.ts';

/** What every part of setup may use. */
export interface SetupContext {
  readonly options: SetupOptions;
  readonly forge: ForgeName;
  readonly forgeUrl: string;
  /** Where the forge sends its webhooks. */
  readonly webhookUrl: string;
  readonly connection: SetupConnection;
  readonly questions: Questions;
  readonly say: (line: string) => void;
  /** The settings before the forge is asked: those of the files, if they exist. */
  readonly initial: Settings;
  /** Whether there were no files yet. */
  readonly isNew: boolean;
  /**
   * The token of somebody who may change the settings at the forge: asked for once, when it is first needed, and not
   * kept.
   */
  setupToken(): Promise<string>;
  /** As sshd sets it (`SSH_CONNECTION`): the client's address and port, the server's address and port. */
  readonly sshConnection: string | undefined;
  readonly startTimer: StartTimer | undefined;
}

/** What people have to do themselves. With a `fault` Gatehouse does not work before. */
export interface ByHand {
  readonly text: string;
  readonly fault: boolean;
}

/** What the forge's part of setup came to. */
export interface ForgeResult {
  /** Credentials and the webhook's secret. */
  readonly settings: Settings;
  readonly byHand: readonly ByHand[];
  /** What is done at the forge only after the settings are safe in their files. */
  readonly afterWriting?: () => Promise<void>;
}

/** What setup does at a forge. */
export interface ForgeSetup {
  /** Makes or checks the credentials, and sets up the webhook. */
  setUp(context: SetupContext): Promise<ForgeResult>;
  /** Requires a commit status on a branch. `token`: of somebody who may change the settings of the repository. */
  requireStatus(connection: SetupConnection, token: string, status: WantedStatus): Promise<Required>;
}
