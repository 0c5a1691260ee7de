/**
 * What differs between the forges and is only data. To add a forge, add its name and its row: the types and
 * test/unit/forges/forges.test.ts then show every other place that has to know it.
 *
 * Imports nothing, so that whoever needs a row loads no client, no YAML and no HTTP library with it.
 */

export const FORGE_NAMES = ['github', 'gitea', 'forgejo'] as const;

/** The forges that Gatehouse speaks to. GitHub Enterprise Server is `github` with a `FORGE_URL` of its own. */
export type ForgeName = (typeof FORGE_NAMES)[number];

/**
 * GitHub matches paths with globs and lets the last line win. Gitea and Forgejo use expressions, of different engines,
 * and add up all lines.
 */
export const CODE_OWNERS_DIALECTS = ['github', 'gitea', 'forgejo'] as const;
export type CodeOwnersDialect = (typeof CODE_OWNERS_DIALECTS)[number];

/** GitHub's own limit is 3 MB, and a larger one has no owners there. */
export const MAX_CODE_OWNERS_BYTES = 3 * 1024 * 1024;

export interface ForgeRow {
  /** The name as people write it. */
  readonly title: string;
  /** The address to use when FORGE_URL is not set. */
  readonly defaultUrl?: string;
  /** Whether a GitHub App may be used instead of a token. */
  readonly apps: boolean;
  /** The headers of a webhook request, in lower case; the first that is present counts. */
  readonly headers: {
    readonly event: readonly string[];
    readonly delivery: readonly string[];
    /** Only GitHub names the hook; its delivery ids are unique per event, not per hook. */
    readonly hook: readonly string[];
  };
  /** Whether it sends a webhook when somebody sets a commit status. */
  readonly sendsStatuses: boolean;
  /** Whether two names of commit statuses that differ only in case are one. */
  readonly statusNamesIgnoreCase: boolean;
  /** The segment of a pull request's page URL before its number. */
  readonly pullRequestSegment: string;
  /** What stands before a commit id in the URL of a file's page. */
  readonly filesAtCommitSegment: string;
  readonly api: {
    /** Path of the API below the forge's address. */
    readonly path: string;
    /** Hosts whose API is at another address. */
    readonly hosts?: Readonly<Record<string, string>>;
    /** Hosts below this domain have their API at `api.` and the host. */
    readonly subdomainOf?: string;
  };
  readonly codeOwners: {
    /** In the forge's own order; the first that exists counts. */
    readonly paths: readonly string[];
    readonly dialect: CodeOwnersDialect;
  };
  /** Whether a comment at a line follows it when lines move, or stays at its number. */
  readonly movesInlineComments: boolean;
  /** People of whom one review asks whether they may write, each in a request of its own. Those beyond are unknown. */
  readonly maxAskedWriters: number;
  /** Where a policy may be besides `.gatehouse.yml`. */
  readonly policyPath: string;
  /**
   * The setting of the forge, up to the host's name, that allows webhooks to private addresses; null: it needs none.
   */
  readonly privateHostSetting: string | null;
  /** What people have to do at the forge, as advice after a fault. */
  readonly advice: {
    /** Gatehouse cannot see a repository. */
    readonly shareRepository: string;
    /** Gatehouse cannot see the members of a team. */
    readonly shareTeam: string;
    /** So that the hidden members of an organisation are seen. */
    readonly shareOrganisation: string;
    /** So that it is seen who may write to a repository. */
    readonly showPermissions: string;
  };
}

const GITHUB_API = 'https://api.github.com';

const GITEA_SETTINGS = {
  statusNamesIgnoreCase: false,
  // One list tells it of nearly everybody.
  maxAskedWriters: Number.POSITIVE_INFINITY,
  privateHostSetting: 'in app.ini, [webhook] ALLOWED_HOST_LIST = external, ',
  advice: {
    shareRepository: 'add Gatehouse’s account to it, with Write access to its code',
    shareTeam: 'give the scope read:organization and add Gatehouse’s account to the team',
    shareOrganisation: 'give the scope read:organization and make Gatehouse’s account a member of the organisation',
    showPermissions:
      'give the scope read:organization and add Gatehouse’s account to the teams of the repository, except administrators’',
  },
} as const;

export const FORGES: Readonly<Record<ForgeName, ForgeRow>> = {
  github: {
    title: 'GitHub',
    defaultUrl: 'https://github.com',
    apps: true,
    headers: {
      event: ['x-forge-event', 'x-github-event'],
      delivery: ['x-forge-delivery', 'x-github-delivery'],
      hook: ['x-github-hook-id'],
    },
    sendsStatuses: true,
    statusNamesIgnoreCase: true,
    pullRequestSegment: 'pull',
    filesAtCommitSegment: 'blob',
    api: {
      // GitHub Enterprise Server; GitHub Enterprise Cloud with data residency is at NAME.ghe.com.
      path: '/api/v3',
      hosts: { 'github.com': GITHUB_API, 'www.github.com': GITHUB_API, 'api.github.com': GITHUB_API },
      subdomainOf: '.ghe.com',
    },
    codeOwners: { paths: ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'], dialect: 'github' },
    movesInlineComments: true,
    maxAskedWriters: 100,
    policyPath: '.github/gatehouse.yml',
    privateHostSetting: null,
    advice: {
      shareRepository: 'install the App in it, or give the token access to it',
      shareTeam: 'give the permission Organisation: Members',
      shareOrganisation: 'give the permission Organisation: Members',
      showPermissions: 'give the permission Metadata: read, and comment /gatehouse recheck',
    },
  },
  gitea: {
    title: 'Gitea',
    apps: false,
    headers: {
      event: ['x-forge-event', 'x-gitea-event'],
      delivery: ['x-forge-delivery', 'x-gitea-delivery'],
      hook: [],
    },
    sendsStatuses: true,
    pullRequestSegment: 'pulls',
    filesAtCommitSegment: 'src/commit',
    api: { path: '/api/v1' },
    codeOwners: { paths: ['CODEOWNERS', 'docs/CODEOWNERS', '.gitea/CODEOWNERS'], dialect: 'gitea' },
    movesInlineComments: false,
    policyPath: '.gitea/gatehouse.yml',
    ...GITEA_SETTINGS,
  },
  forgejo: {
    title: 'Forgejo',
    apps: false,
    // It sends Gitea's headers as well.
    headers: {
      event: ['x-forge-event', 'x-forgejo-event', 'x-gitea-event'],
      delivery: ['x-forge-delivery', 'x-forgejo-delivery', 'x-gitea-delivery'],
      hook: [],
    },
    sendsStatuses: false,
    pullRequestSegment: 'pulls',
    filesAtCommitSegment: 'src/commit',
    api: { path: '/api/v1' },
    codeOwners: {
      paths: ['CODEOWNERS', 'docs/CODEOWNERS', '.gitea/CODEOWNERS', '.forgejo/CODEOWNERS'],
      dialect: 'forgejo',
    },
    movesInlineComments: false,
    policyPath: '.forgejo/gatehouse.yml',
    ...GITEA_SETTINGS,
  },
};

export function isForgeName(text: string): text is ForgeName {
  return FORGE_NAMES.some((name) => name === text);
}
