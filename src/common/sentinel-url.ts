/** Where Sentinels of Redis are, and which primary is asked of them. */
export interface SentinelUrl {
  readonly tls: boolean;
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** As the Sentinels call the primary, such as `mymaster`. */
  readonly name: string;
  readonly database: number;
  /** The credentials of the primary. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly sentinelUsername: string | undefined;
  /** The primary's by default: most installations have one password for both. */
  readonly sentinelPassword: string | undefined;
}

const SENTINEL_PORT = 26_379;
const SHAPE =
  /^(rediss?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([A-Za-z0-9._-]{1,100})(?:\/(\d{1,4}))?(?:\?([^#]*))?$/;
const PARAMETERS: readonly string[] = ['sentinelUsername', 'sentinelPassword'];

export function isSentinelUrl(text: string): boolean {
  return /^rediss?\+sentinel:/.test(text);
}

/**
 * Reads `redis+sentinel://user:password@host:port,host:port/name/database?sentinelUsername=…&sentinelPassword=…`. Only
 * a host and the name are required. Undefined when it is anything else. `URL` cannot read it, because it has several
 * hosts.
 */
export function parseSentinelUrl(text: string): SentinelUrl | undefined {
  const [, scheme, credentials = '', hosts = '', name = '', database = '0', query = ''] = SHAPE.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  if (scheme === undefined || [...parameters.keys()].some((key) => !PARAMETERS.includes(key))) {
    return undefined;
  }
  const sentinels: { host: string; port: number }[] = [];
  for (const each of hosts.split(',')) {
    const address = `redis://${each}`;
    if (each === '' || !URL.canParse(address)) {
      return undefined;
    }
    const { hostname, port } = new URL(address);
    sentinels.push({ host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? SENTINEL_PORT : Number(port) });
  }
  try {
    const [username, password] = credentials.split(/:(.*)/s, 2).map(decodeURIComponent);
    return {
      tls: scheme === 'rediss',
      sentinels,
      name,
      database: Number(database),
      username: username || undefined,
      password: password || undefined,
      sentinelUsername: parameters.get('sentinelUsername') || undefined,
      sentinelPassword: parameters.get('sentinelPassword') || password || undefined,
    };
  } catch {
    // A stray percent sign in the credentials.
    return undefined;
  }
}
