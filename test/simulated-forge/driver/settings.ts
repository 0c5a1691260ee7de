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

export function makeSettings(stage: Stage) {
  const { world, find } = stage;
  const hooksOf = (owner: string): Hook[] =>
    owner.includes('/') ? find(owner).hooks : (world.organisationHooks.get(owner) ?? []);

  return {
    createTeam(team: string, members: readonly string[]) {
      world.teams.set(team, members);
    },
    /** From now on the members of a team may do that in a repository. Its owner is an organisation then. Gitea's and Forgejo's alone. */
    grantTeam(repository: string, team: string, access: TeamAccess) {
      find(repository).teams.set(team, access);
    },
    /** Hidden unless `as` says otherwise. Being in a team makes nobody a member here. */
    addMember(organisation: string, login: string, as: Member['as'] = 'hidden') {
      const others = (world.members.get(organisation) ?? []).filter((member) => member.login !== login);
      world.members.set(organisation, [...others, { login, as }]);
    },
    /** Without scopes it may do everything. On GitHub a token with scopes is a classic one, which only shows them. */
    addToken(token: string, login: string, scopes?: readonly string[]) {
      world.tokens.set(token, login);
      if (scopes !== undefined) {
        world.scopes.set(token, scopes);
      }
    },
    revokeToken(token: string) {
      world.tokens.delete(token);
    },
    /** From now on this person may look and speak, and decides nothing. */
    addOutsider(login: string) {
      world.outsiders.add(login.toLowerCase());
    },
    removeOutsider(login: string) {
      world.outsiders.delete(login.toLowerCase());
    },
    /** Who may change the settings of every repository and organisation, as its owner may. */
    addAdministrator(login: string) {
      world.administrators.add(login);
    },
    /** From now on a merge into the branch requires these statuses: names, or patterns that end in `*`. */
    protect(repository: string, branch: string, statuses: readonly string[], appId?: number) {
      const protection = { checks: true, push: false, statuses, ...(appId !== undefined && { appId }) };
      find(repository).protections.set(branch, protection);
    },
    protection: (repository: string, branch: string): Protection | undefined =>
      find(repository).protections.get(branch),
    rulesets: (repository: string): readonly Ruleset[] => find(repository).rulesets,
    /**
     * Of a repository, or of an organisation. On Gitea and Forgejo what is done through the API is from now on sent there; what
     * people do is sent by the test.
     */
    addHook(owner: string, hook: Pick<Hook, 'url' | 'secret'> & Partial<Hook>): Hook {
      const made = makeHook(world, hook);
      if (owner.includes('/')) {
        find(owner).hooks.push(made);
      } else {
        world.organisationHooks.set(owner, [...hooksOf(owner), made]);
      }
      return made;
    },
    hooks: hooksOf,
    /**
     * How long files, difference and commits of Gitea and Forgejo stay those of the head before a push: 0 unless set.
     * Infinite holds them back until it is set anew.
     */
    delayDifferences(milliseconds: number) {
      world.differenceDelayMs = milliseconds;
    },
    addDelivery(delivery: Omit<Delivery, 'id'>): Delivery {
      const made = { ...delivery, id: newId(world) };
      world.deliveries.push(made);
      return made;
    },
  };
}
