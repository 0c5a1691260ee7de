import fc from 'fast-check';
import { makeArbitraries } from '../api/arbitrary.ts';
import { type Checks, makeChecks } from '../api/checks.ts';
import { readDescription } from '../api/description.ts';
import { RULES } from './checks.ts';
import { fileOf, type Version } from './versions.ts';

/** What the simulator leaves out on purpose: that it is not there says something. */
const MEANT: readonly string[] = ['patch', 'previous_filename', 'visibility', 'secret', 'submitted_at'];
/** So that optional fields are there in some answers and in others not. */
const ONE_IN = 2;

/** As the checks of GitHub, with whatever GitHub may send where the simulator says nothing. The same for the same seed. */
export function hostileGithubChecks(version: Version, seed: number): Checks {
  const description = readDescription(fileOf(version));
  const arbitraryOf = makeArbitraries(description.schemas);
  let drawn = 0;
  return makeChecks(description, RULES, (name, schema) => {
    drawn += 1;
    const [value] = fc.sample(arbitraryOf(schema), { seed: seed + drawn, numRuns: 1 });
    return MEANT.includes(name) || (seed + drawn) % ONE_IN === 0 ? undefined : value;
  });
}
