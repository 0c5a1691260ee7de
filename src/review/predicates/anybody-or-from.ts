import * as z from 'zod';
import { peopleOrTeamsAlone, splitTeams } from './values.ts';

/** `true` for anybody, or whom it is about. */
export const anybodyOrFrom = z
  .union(
    [
      z.literal(true),
      z.strictObject({
        from: peopleOrTeamsAlone.describe('Whom it is about: logins and teams (@organisation/team).'),
      }),
    ],
    { error: 'true, or a mapping with `from`' },
  )
  .transform((value) => (value === true ? undefined : { names: value.from, ...splitTeams(value.from) }));
