import { convertManifest } from '../../forges/setup/github-manifest.ts';
import { UsageError } from '../failures.ts';
import type { ForgeResult, SetupContext } from './context.ts';
import { openManifestPage } from './page.ts';

/** Registers an App with the user's browser. */
export async function setUpGitHub({ connection, options, say }: SetupContext): Promise<ForgeResult> {
  const { hostname } = new URL(options.webhookUrl);
  if (/(?:^|\.)localhost$|^127\.|^\[::1\]$/.test(hostname)) {
    throw new UsageError('--url: GitHub cannot reach a loopback address; use one that it can reach');
  }
  const page = await openManifestPage(options);
  const { port } = new URL(page.url);
  say('Open this page within 10 minutes, in a browser in which you are signed in to GitHub:');
  say(`  ${page.url}`);
  say(`Over SSH, first run this on the machine of the browser: ssh -N -L ${port}:127.0.0.1:${port} <this host>`);
  const { id, pem, html_url, webhook_secret } = await convertManifest(connection, await page.code);
  say(`✔ The App is registered. Install it in your repositories: ${html_url}/installations/new`);
  const secrets = { GITHUB_APP_PRIVATE_KEY: pem, WEBHOOK_SECRET: webhook_secret };
  // The App takes the place of a token that may be set.
  const settings = { GITHUB_APP_ID: id, ...secrets, FORGE_TOKEN: undefined };
  return { settings, requirementOf: (branch, context) => ruleset(branch, context, Number(id)) };
}

/** Beside all other rulesets. It pins the status to the App, so that nobody else can set it. */
function ruleset(branch: string, context: string, appId: number) {
  const required_status_checks = [{ context, integration_id: appId }];
  const parameters = { strict_required_status_checks_policy: false, required_status_checks };
  const conditions = { ref_name: { include: [`refs/heads/${branch}`], exclude: [] } };
  const rules = [{ type: 'required_status_checks', parameters }];
  return { path: '/rulesets', body: { name: context, target: 'branch', enforcement: 'active', conditions, rules } };
}
