import { z } from 'zod';
import { parseAnswer, requireFound } from '../answer.ts';
import { type GiteaClient, path } from '../gitea/client.ts';
import { splitRepository } from '../port/names.ts';
import type { Required, WantedStatus } from './required-status.ts';

const protection = z.object({
  rule_name: z.string().optional(),
  /** Its name before Gitea 1.19. */
  branch_name: z.string().optional(),
  enable_status_check: z.boolean(),
  status_check_contexts: z
    .array(z.string())
    .nullish()
    .transform((contexts) => contexts ?? []),
});

type Protection = z.output<typeof protection>;

/** Characters that make the name of a rule a pattern for several branches. */
const PATTERN = /[*?[\]{}\\]/;

export async function requireStatus(
  client: GiteaClient,
  { repository, branch, context }: WantedStatus,
): Promise<Required> {
  const { owner, name } = splitRepository(repository);
  const rules = `${path('repos', owner, name)}/branch_protections`;
  // A list without pages: asking for another one would bring the same again.
  const found = requireFound(await client.ask(rules, z.array(protection)), `GET ${rules}`);
  const nameOf = (rule: Protection) => rule.rule_name || rule.branch_name || '';
  const rule = found.find((candidate) => nameOf(candidate) === branch);

  if (rule === undefined) {
    const pattern = found.map(nameOf).find((other) => PATTERN.test(other));
    if (pattern !== undefined) {
      // A rule with the branch's own name would take the place of that one, with all that it demands.
      return { kind: 'by-hand', reason: `the protection ${pattern} may be the one of this branch` };
    }
    const made = await client.write('POST', rules, {
      rule_name: branch,
      // By itself a new protection forbids every push.
      enable_push: true,
      enable_status_check: true,
      status_check_contexts: [context],
    });
    parseAnswer(protection, made, `POST ${rules}`);
    return { kind: 'added', what: 'a new protection, which requires only this and allows pushes as before' };
  }
  if (rule.enable_status_check && rule.status_check_contexts.includes(context)) {
    return { kind: 'already' };
  }
  if (!rule.enable_status_check && rule.status_check_contexts.some((other) => other !== context)) {
    const others = rule.status_check_contexts.filter((other) => other !== context).join(', ');
    return {
      kind: 'by-hand',
      reason: `its status checks are turned off, and turning them on would also require ${others}`,
    };
  }
  const route = `${rules}${path(branch)}`;
  const changed = await client.write('PATCH', route, {
    enable_status_check: true,
    status_check_contexts: [...rule.status_check_contexts.filter((other) => other !== context), context],
  });
  parseAnswer(protection, changed, `PATCH ${route}`);
  return { kind: 'added', what: 'the present protection, beside what it requires already' };
}
