import type { GiteaName } from '../../forges/gitea/differences.ts';
import type { ForgeName } from '../../forges/port/forges.ts';
import { requireStatus as requireOnGitea } from '../../forges/setup/gitea-protection.ts';
import { requireStatus as requireOnGitHub } from '../../forges/setup/github-protection.ts';
import type { ForgeSetup } from './context.ts';
import { setUpGitea } from './gitea.ts';
import { setUpGitHub } from './github.ts';

const setupOfGitea = (name: GiteaName): ForgeSetup => ({
  setUp: (context) => setUpGitea(context, name),
  requireStatus: (connection, token, status) => requireOnGitea(connection.gitea(token), status),
});

export const FORGE_SETUPS: Readonly<Record<ForgeName, ForgeSetup>> = {
  github: {
    setUp: setUpGitHub,
    requireStatus: (connection, token, status) => requireOnGitHub(connection.github({ kind: 'token', token }), status),
  },
  gitea: setupOfGitea('gitea'),
  forgejo: setupOfGitea('forgejo'),
};
