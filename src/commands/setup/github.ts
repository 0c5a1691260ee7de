import { ConfigurationError } from '../../config/config.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { configureAppHook, installationUrl, readApp } from '../../forges/setup/github-app.ts';
import {
  convertManifest,
  manifestOf,
  type RegisteredApp,
  registrationUrl,
} from '../../forges/setup/github-manifest.ts';
import { UsageError } from '../failures.ts';
import type { ByHand, ForgeResult, SetupContext } from './context.ts';
import { newSecret } from './gitea.ts';
import { nameFault } from './options.ts';
import { openManifestPage } from './page.ts';
import { resolve } from './questions.ts';

/** Registers an App, or checks and repairs the one that is registered already. */
export async function setUpGitHub(context: SetupContext): Promise<ForgeResult> {
  const { connection, options, initial, questions, webhookUrl } = context;
  if (isLoopback(webhookUrl)) {
    throw new UsageError('--url: GitHub cannot reach a loopback address; it must be one that GitHub reaches');
  }
  if (!context.isNew) {
    if (initial['GITHUB_APP_ID'] === undefined) {
      throw new ConfigurationError(
        'these settings have a token, but setup registers an App: choose another folder with --folder',
      );
    }
    return { settings: {}, byHand: await checkApp(context) };
  }
  const organisation = await resolve(questions, options.organisation, {
    text: 'Organisation that owns the App (Enter: your own account)',
    option: '--organisation',
    fallback: '',
    fault: nameFault,
  });
  const app = await registerApp(context, organisation === '' ? undefined : organisation);
  const secret = app.webhookSecret ?? newSecret();
  const credentials = { appId: app.appId, privateKey: app.privateKey };
  const install = `install the App in your repositories: ${installationUrl(app.pageUrl)}`;
  return {
    settings: { GITHUB_APP_ID: app.appId, GITHUB_APP_PRIVATE_KEY: app.privateKey, WEBHOOK_SECRET: secret },
    byHand: [{ text: install, fault: false }],
    ...(app.webhookSecret === undefined && {
      afterWriting: () =>
        configureAppHook(connection.github({ kind: 'app', ...credentials }), { url: webhookUrl, secret }),
    }),
  };
}

/** Registers an App with the user's browser. Returns its credentials, which GitHub shows only this once. */
async function registerApp(context: SetupContext, organisation: string | undefined): Promise<RegisteredApp> {
  const { connection, forgeUrl, say, webhookUrl } = context;
  const form = {
    action: (state: string) => registrationUrl(forgeUrl, organisation, state),
    manifest: (redirectUrl: string) => manifestOf({ organisation, webhookUrl }, redirectUrl),
  };
  const exchange = async (code: string) => {
    const app = await convertManifest(connection.fetchFor('manifest'), connection.apiUrl, code);
    const link = { url: installationUrl(app.pageUrl), text: 'Install it in your repositories.' };
    return { value: app, say: `The App ${app.slug} is registered. The terminal has the next step.`, link };
  };
  const page = await openManifestPage(form, exchange, context.startTimer);
  say('Open this page within 10 minutes, in a browser in which you are signed in to GitHub:');
  say(`  ${page.url}`);
  for (const line of forwardingAdvice(context.sshConnection, page.port)) {
    say(line);
  }
  const app = await page.result;
  say(`✔ The App ${app.slug} is registered.`);
  return app;
}

/** Over SSH the browser is on another machine. */
function forwardingAdvice(sshConnection: string | undefined, port: number): readonly string[] {
  const [, , server, sshPort = '22'] = sshConnection?.split(' ') ?? [];
  if (server === undefined) {
    return [];
  }
  const option = sshPort === '22' ? '' : ` -p ${sshPort}`;
  return [
    'You are connected over SSH. If your browser is on your own machine, forward the port first, from there:',
    `  ssh -N -L ${port}:127.0.0.1:${port}${option} ${server}`,
    `  (with the user and the name that you connected with, if ${server} is not reachable)`,
  ];
}

/** Repairs the webhook of an App that is registered. Returns what its owner has to change by hand. */
async function checkApp({
  connection,
  options,
  initial,
  questions,
  say,
  webhookUrl,
}: SetupContext): Promise<readonly ByHand[]> {
  const { setSecret } = options;
  const { GITHUB_APP_ID: appId = '', GITHUB_APP_PRIVATE_KEY: privateKey = '', WEBHOOK_SECRET: secret = '' } = initial;
  const client = connection.github({ kind: 'app', appId, privateKey });
  const app = await readApp(client).catch((error: unknown) => {
    const refused = error instanceof ForgeError && (error.status === 401 || error.status === 404);
    throw refused
      ? new Error(
          `GITHUB_APP_ID ${appId}: GitHub does not accept it with this private key: was the App or its key deleted?`,
          { cause: error },
        )
      : error;
  });
  const isRight = app.webhook.url === webhookUrl && app.webhook.contentType === 'json';
  if (isRight && !setSecret) {
    say(`✔ The App ${app.slug} sends its webhooks to ${webhookUrl}.`);
  } else {
    say(
      `  set the webhook of the App ${app.slug} to ${webhookUrl}${setSecret ? ', with the secret in these files' : ''}`,
    );
    if (!(await questions.confirm('Change this at GitHub?'))) {
      throw new Error('stopped before anything was changed');
    }
    await configureAppHook(client, { url: webhookUrl, ...(setSecret ? { secret } : {}) });
    say(`✔ The webhook of the App ${app.slug} was repaired.`);
  }
  const where = `in the settings of the App (${app.pageUrl}), Permissions & events`;
  const missing = [
    ...(app.missingPermissions.length === 0 ? [] : [`give the App ${app.missingPermissions.join(', ')}, ${where}`]),
    ...(app.missingEvents.length === 0 ? [] : [`subscribe the App to ${app.missingEvents.join(', ')}, ${where}`]),
  ];
  return missing.map((text) => ({ text, fault: true }));
}

/** GitHub refuses webhooks to itself. */
function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname);
}
