import { makeHook } from '../gitea-settings-routes.ts';
import {
  type Delivery,
  type Hook,
  type Member,
  newId,
  type Protection,
  type Ruleset,
  type TeamAccess,
} from '../world.ts';
import type { Stage } from './stage.ts';

/** What owners and administrators set: accounts, tokens, protection, webhooks. Repositories are `owner/name`. */
export interface Settings {
  createTeam(team: string, members: readonly string[]): void;
  /** From now on the members of a team may do that in a repository. Its owner is an organisation then. Gitea's and Forgejo's alone. */
  grantTeam(repository: string, team: string, access: TeamAccess): void;
  /** Hidden unless `as` says otherwise. Being in a team makes nobody a member here. */
  addMember(organisation: string, login: string, as?: Member['as']): void;
  /** Without scopes it may do everything. On GitHub a token with scopes is a classic one, which only shows them. */
  addToken(token: string, login: string, scopes?: readonly string[]): void;
  /** From now on the token is not accepted. */
  revokeToken(token: string): void;
  /** From now on this person may look and speak, and decides nothing. */
  addOutsider(login: string): void;
  /** From now on this person may write, as everybody else. */
  removeOutsider(login: string): void;
  /** Who may change the settings of every repository and organisation, as its owner may. */
  addAdministrator(login: string): void;
  /** From now on a merge into the branch requires these statuses: names, or patterns that end in `*`. */
  protect(repository: string, branch: string, statuses: readonly string[], appId?: number): void;
  protection(repository: string, branch: string): Protection | undefined;
  rulesets(repository: string): readonly Ruleset[];
  /**
   * Of a repository, or of an organisation. On Gitea and Forgejo what is done through the API is from now on sent there; what
   * people do is sent by the test.
   */
  addHook(owner: string, hook: Pick<Hook, 'url' | 'secret'> & Partial<Hook>): Hook;
  /** The webhooks of a repository, or of an organisation. */
  hooks(owner: string): readonly Hook[];
  /**
   * How long files, difference and commits of Gitea and Forgejo stay those of the head before a push: 0 unless set.
   * Infinite holds them back until it is set anew.
   */
  delayDifferences(milliseconds: number): void;
  addDelivery(delivery: Omit<Delivery, 'id'>): Delivery;
}

export function makeSettings(stage: Stage): Settings {
  const { world, find } = stage;
  const hooksOf = (owner: string): Hook[] =>
    owner.includes('/') ? find(owner).hooks : (world.organisationHooks.get(owner) ?? []);

  return {
    createTeam(team, members) {
      world.teams.set(team, members);
    },
    grantTeam(repository, team, access) {
      find(repository).teams.set(team, access);
    },
    addMember(organisation, login, as = 'hidden') {
      const others = (world.members.get(organisation) ?? []).filter((member) => member.login !== login);
      world.members.set(organisation, [...others, { login, as }]);
    },
    addToken(token, login, scopes) {
      world.tokens.set(token, login);
      if (scopes !== undefined) {
        world.scopes.set(token, scopes);
      }
    },
    revokeToken(token) {
      world.tokens.delete(token);
    },
    addOutsider(login) {
      world.outsiders.add(login.toLowerCase());
    },
    removeOutsider(login) {
      world.outsiders.delete(login.toLowerCase());
    },
    addAdministrator(login) {
      world.administrators.add(login);
    },
    protect(repository, branch, statuses, appId) {
      const protection = { checks: true, push: false, statuses, ...(appId !== undefined && { appId }) };
      find(repository).protections.set(branch, protection);
    },
    protection: (repository, branch) => find(repository).protections.get(branch),
    rulesets: (repository) => find(repository).rulesets,
    addHook(owner, hook) {
      const made = makeHook(world, hook);
      if (owner.includes('/')) {
        find(owner).hooks.push(made);
      } else {
        world.organisationHooks.set(owner, [...hooksOf(owner), made]);
      }
      return made;
    },
    hooks: hooksOf,
    delayDifferences(milliseconds) {
      world.differenceDelayMs = milliseconds;
    },
    addDelivery(delivery) {
      const made = { ...delivery, id: newId(world) };
      world.deliveries.push(made);
      return made;
    },
  };
}
