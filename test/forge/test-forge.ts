import { hookEvents } from '../../src/forges/gitea/hook-events.ts';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import type { Person } from '../helpers/gitea-container.ts';
import type { Site } from '../helpers/site.ts';
import type { Changes } from '../simulated-forge/git.ts';
import type { TeamAccess } from '../simulated-forge/world.ts';

/**
 * A {@link Site} of `alice`, where `bob` and `gatehouse` may write and `mallory` may not. `webhooksTo` has the address of the webhooks.
 */
export interface HookedSite extends Site {
  /** Makes the webhook, with the events of docs/connect-gitea.md, to a port of this machine. */
  hook(port: number, secret: string): Promise<void>;
  /**
   * Pushes, and keeps the forge from following: `head.sha` is the new commit, and the difference the old one's.
   * `release()` ends that, and waits until the push is over.
   */
  pushHeld(branch: string, changes: Changes): Promise<{ readonly sha: string; release(): Promise<void> }>;
  /** After this, changes have a later date than all before: forges tell times in seconds. */
  nextSecond(): Promise<void>;
}

export interface Team {
  readonly access: Exclude<TeamAccess, 'owner'>;
  readonly members: readonly Person[];
}

export interface OrganisationRepository {
  readonly repository: string;
  /** Puts `gatehouse` into a team. */
  join(team: string): Promise<void>;
}

/** A forge on which every test takes a site of its own. */
export interface TestForge {
  readonly kind: 'simulated' | 'real';
  /** What Gatehouse is configured by. */
  readonly name: ForgeName;
  readonly url: string;
  readonly token: string;
  /** One with the scopes `read:repository` and `read:user` only. */
  readonly readingToken: string;
  /** Of `alice`, who owns every site. */
  readonly ownerToken: string;
  /** The name by which the forge reaches this machine. */
  readonly hostName: string;
  /** Where doors and receivers have to listen to be reached from it. */
  readonly listenOn: string;
  site(files?: Changes): Promise<HookedSite>;
  /** In an organisation of `alice`. `gatehouse` and `bob` may write to it, whatever their teams, and are in none. */
  organisationRepository(teams: Readonly<Record<string, Team>>): Promise<OrganisationRepository>;
  /** Its name. alice, who owns it, is a public member. */
  organisation(members: Readonly<Record<string, 'public' | 'hidden'>>): Promise<string>;
  /** What Gatehouse has asked of a repository so far, `GET /api/v1/repos/…`. */
  requests(site: Site): Promise<readonly string[]>;
  close(): Promise<void>;
}

export const HOOK_EVENTS = hookEvents('gitea').map(({ name }) => name);
