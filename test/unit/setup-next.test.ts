import test from 'ava';
import type { SetupContext } from '../../src/commands/setup/context.ts';
import { nextSteps } from '../../src/commands/setup/next.ts';

const endOf = (url: string, isNew = true) =>
  nextSteps(
    {
      options: { kubernetes: true, namespace: 'review' },
      forge: 'gitea',
      webhookUrl: `${url}/webhook`,
      initial: {},
      isNew,
    } as SetupContext,
    '/srv/it',
    [],
  ).split('\n');

test('for Kubernetes setup ends with the one command, and says first what it needs', (t) => {
  const [image, address, next, command, ...rest] = endOf('https://gatehouse.example.com');
  t.regex(image ?? '', /^→ Image: docker build -t gatehouse:\S+ \. .*image\.repository/);
  t.regex(address ?? '', /an Ingress for gatehouse\.example\.com;/);
  t.is(next, 'Next:');
  t.is(
    command,
    '  kubectl create namespace review; kubectl apply -f /srv/it/gatehouse-secret.yaml && ' +
      'helm upgrade --install gatehouse charts/gatehouse --namespace review --values /srv/it/gatehouse-values.yaml',
  );
  t.is(rest.length, 1);
});

test('of files that exist setup does not say what is in them', (t) => {
  const [, address] = endOf('https://gatehouse.example.com', false);
  t.regex(address ?? '', /^→ Address: gatehouse\.example\.com must lead to the Service gatehouse: see ingress /);
});

test('inside the cluster no Ingress is promised', (t) => {
  const [hosts, , address] = endOf('http://gatehouse.review.svc');
  t.regex(hosts ?? '', /ALLOWED_HOST_LIST = external, gatehouse\.review\.svc$/);
  t.regex(address ?? '', /^→ Address: gatehouse\.review\.svc must lead to the Service gatehouse: see ingress/);
});
