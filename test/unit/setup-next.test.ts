import { nextSteps } from '../../src/commands/setup/next.ts';
import { readOptions } from '../../src/commands/setup/options.ts';
import test from '../helpers/test.ts';

const values = {
  kubernetes: true,
  namespace: 'review',
  folder: '.',
  forge: 'gitea',
  'forge-url': 'https://git.example.com',
};

function endOf(url: string, more: Readonly<Record<string, string>> = {}): readonly string[] {
  const options = readOptions({ ...values, ...more, url }, { env: {}, folder: '/srv/it' });
  const requirementOf = (branch: string, context: string) => ({ path: '/rules', body: { branch, context } });
  return nextSteps(options, { requirementOf }, 'https://git.example.com/api/v1', "it's/{base}").split('\n');
}

test('for Kubernetes setup ends with the one command', (t) => {
  const lines = endOf('https://gatehouse.example.com');
  t.deepEqual(lines.slice(2, 4), [
    'Next:',
    '  kubectl create namespace review; kubectl apply -f /srv/it/gatehouse-secret.yaml && ' +
      'helm upgrade --install gatehouse charts/gatehouse --namespace review --values /srv/it/gatehouse-values.yaml',
  ]);
  t.is(lines.length, 5);
});

test('setup says what the forge has to allow, and the command that requires the status, without a token', (t) => {
  const [, , hosts] = endOf('http://gatehouse.review.svc');
  t.regex(hosts ?? '', /ALLOWED_HOST_LIST = external, gatehouse\.review\.svc$/);
  const [what, command] = endOf('https://gatehouse.example.com', { organisation: 'acme' });
  t.regex(what ?? '', /^→ By hand: require the status it's\/main on the default branch/);
  t.is(
    command,
    `  printf 'Authorization: token %s' "$TOKEN" | curl --fail-with-body -H @- -H 'Content-Type: application/json' ` +
      `-d '{"branch":"main","context":"it'\\''s/main"}' https://git.example.com/api/v1/repos/acme/name/rules`,
  );
});
