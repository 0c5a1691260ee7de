import { type Checks, makeChecks, type Rules } from '../api/checks.ts';
import { readDescription } from '../api/description.ts';
import type { Call } from '../routes.ts';
import { fileOf, type Version } from './versions.ts';

/** https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api */
const MAX_PAGE_SIZE = 100;
/** https://docs.github.com/en/rest/about-the-rest-api/api-versions: what all versions of Enterprise Server here support. */
const API_VERSIONS = ['2022-11-28'];
/** https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types */
const MEDIA_TYPE =
  /^(?:\*\/\*$|application\/(?:json|vnd\.github(?:\.v3)?(?:\.(?:raw|text|html|full|diff|patch))?(?:\+json)?)$)/;

/** Where GitHub itself differs from its description, and how that is known. */
const ACCEPTED: readonly { readonly fault: RegExp; readonly why: string }[] = [
  {
    fault: /^POST \/repos\/\{owner\}\/\{repo\}\/statuses\/\{sha\}: answer 422/,
    why: 'its prose says so of the 1,001st status of a context; users report it of an unknown commit',
  },
  {
    fault: /^GET \/repos\/\{owner\}\/\{repo\}\/commits\/\{ref\}\/status(?:es)?: answer 422/,
    why: 'users report it of a ref that does not exist',
  },
  {
    fault:
      /^GET \/repos\/\{owner\}\/\{repo\}\/pulls\/\{pull_number\}\/comments: answer 200 \/\d+\/line must be integer/,
    why: 'users report null of a comment whose line is no longer part of the change',
  },
  {
    fault: /^GET \/repos\/\{owner\}\/\{repo\}\/pulls\/\{pull_number\}: answer 406 has the field errors,/,
    why: 'users report it of a diff that is too large',
  },
  {
    fault:
      /^GET \/repos\/\{owner\}\/\{repo\}\/pulls(?:\/\{pull_number\})?: answer 200 (?:\/\d+)?\/head\/repo must be object/,
    why: 'a fork that was deleted is null, which the description forgets',
  },
];

function isAccepted(found: string): boolean {
  return ACCEPTED.some(({ fault }) => fault.test(found));
}

export const RULES: Rules = {
  headers: faultsOfHeaders,
  page: { parameter: 'per_page', max: MAX_PAGE_SIZE },
  isAccepted,
};

const made = new Map<Version, Checks>();

/** One for each version in a process: the descriptions take a moment to read. */
export function githubChecks(version: Version): Checks {
  const checks = made.get(version) ?? makeChecks(readDescription(fileOf(version)), RULES);
  made.set(version, checks);
  return checks;
}

function faultsOfHeaders({ headers, body }: Call): readonly string[] {
  const { accept = '', 'x-github-api-version': version, 'user-agent': agent, 'content-type': type = '' } = headers;
  const unknown = accept.split(/,\s*/).filter((media) => !MEDIA_TYPE.test(media));
  return [
    ...unknown.map((media) => `header Accept has '${media}', which GitHub does not document`),
    ...(version === undefined || API_VERSIONS.includes(version) ? [] : [`header X-GitHub-Api-Version is '${version}'`]),
    // https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent
    ...(agent ? [] : ['header User-Agent is missing']),
    ...(Object.keys(body).length === 0 || type.startsWith('application/json')
      ? []
      : [`header Content-Type is '${type}'`]),
  ];
}
