import { randomUUID } from 'node:crypto';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { SEED_OF_ALL } from './api/seed.ts';
import { makeDriver } from './driver.ts';
import { giteaChecks } from './gitea-api/checks.ts';
import { makeGiteaDialect } from './gitea-dialect.ts';
import type { Notify } from './gitea-write-routes.ts';
import { githubChecks } from './github-api/checks.ts';
import type { Hostility } from './github-api/hostile.ts';
import { completePayloads } from './github-api/payloads.ts';
import type { Version } from './github-api/versions.ts';
import { makeApp } from './github-app-routes.ts';
import { makeGitHubDialect, makeSwitches } from './github-dialect.ts';
import { type Seen, startServer } from './server.ts';
import { makeWebhook } from './webhooks.ts';
import { makeWorld } from './world.ts';

export interface SimulatedForgeOptions {
  readonly forge: ForgeName;
  readonly port?: number;
  /** The name by which others reach it; it then listens on every address, not on 127.0.0.1 alone. */
  readonly host?: string;
  /** Whether Gitea only pretends to delete a comment at a line, as it did before 1.24.6. It does unless told. */
  readonly keepsInlineComments?: boolean;
  /** Whether exchanges are held against the forge's published description. A test run does, unless told. */
  readonly checked?: boolean;
  readonly version?: Version;
  /** A seed: what GitHub may send, and the simulator does not say, is drawn. `HOSTILE_GITHUB` sets it for all. */
  readonly hostile?: number;
}

export type SimulatedForge = Awaited<ReturnType<typeof startSimulatedForge>>;

/** As installed ([webhook] DELIVER_TIMEOUT). */
const WEBHOOK_TIMEOUT_MS = 5_000;

/** A code forge on 127.0.0.1, unless told otherwise, that keeps everything in memory. */
export async function startSimulatedForge(options: SimulatedForgeOptions) {
  const { forge: name, port = 0, host, keepsInlineComments = true } = options;
  const {
    version = 'api.github.com',
    hostile = SEED_OF_ALL,
    checked = process.env['TEST_EXCHANGES'] !== undefined,
  } = options;
  const world = makeWorld();
  // Never the same twice: what others keep by token (caches, holds) must not reach from one test into the next.
  const token = `token-of-gatehouse-${randomUUID()}`;
  world.tokens.set(token, 'gatehouse');
  const app = makeApp(world.installations);
  const switches = makeSwitches();
  const underWay = new Set<Promise<unknown>>();
  let begun = 0;
  const notify: Notify = (repository, event) => {
    const ofOwner = world.organisationHooks.get(repository.fullName.split('/')[0] ?? '') ?? [];
    for (const { url, secret } of [...repository.hooks, ...ofOwner].filter(({ active }) => active)) {
      const { headers, body } = makeWebhook(world, repository, event, { forge: name, web: server.url, secret });
      // Sent once: whoever does not answer has missed it.
      const signal = AbortSignal.timeout(WEBHOOK_TIMEOUT_MS);
      const sent = fetch(url, { method: 'POST', headers, body, signal }).catch(() => undefined);
      underWay.add(sent);
      begun += 1;
      sent.then(() => underWay.delete(sent));
    }
  };
  const described = checked ? await descriptionOf(name, version, hostile) : {};
  const server = await startServer(
    (url) =>
      name === 'github'
        ? makeGitHubDialect(world, app, switches, described)
        : { ...makeGiteaDialect(world, name, url, keepsInlineComments, notify), ...described },
    port,
    host,
  );

  /** How many requests matched, by method and route pattern: `count('GET', /\/files$/)`. */
  function count(method?: string, route?: RegExp): number {
    return server.seen.filter(
      (seen) => (method === undefined || seen.method === method) && (route === undefined || route.test(seen.route)),
    ).length;
  }

  return {
    ...makeDriver(world, name, server.url, checked && name === 'github' ? completePayloads(version) : undefined),
    name,
    /** Where people would open it: a `FORGE_URL`. */
    url: server.url,
    token,
    app,
    ...switches,
    latency: server.latency,
    seen: server.seen as readonly Seen[],
    count,
    /**
     * How many requests tried to change something. To the repository `-/-`, which cannot exist, only the scopes of a token are
     * tried; every GraphQL query reads.
     */
    writes: () =>
      server.seen.filter(
        ({ method, path }) => !['GET', 'HEAD'].includes(method) && !/^\/(?:repos\/-\/-\/|graphql)/.test(path),
      ).length,
    fault: server.faults.add,
    watch: server.faults.watch,
    clearFaults: server.faults.clear,
    /** Carries out what was requested during a fault `late`. */
    carryOutLate: () => server.late.splice(0).forEach((carryOut) => void carryOut()),
    forgetRequests: () => {
      server.seen.length = 0;
    },
    /** Waits until none of its own webhooks is on its way. Returns how many there have been. */
    async webhooksSent() {
      while (underWay.size > 0) {
        await Promise.all(underWay);
      }
      return begun;
    },
    assertValid: server.exchanges.assertValid,
    async stop() {
      await server.stop();
      server.exchanges.report(name);
      server.exchanges.assertValid();
    },
  };
}

/** Forgejo 7 publishes a description of its own, which no test has. */
async function descriptionOf(name: ForgeName, version: Version, seed: number | undefined): Promise<Partial<Hostility>> {
  if (name !== 'github') {
    return name === 'gitea' ? { checks: giteaChecks() } : {};
  }
  if (seed === undefined) {
    return { checks: githubChecks(version) };
  }
  // Imported here: drawing is for few tests.
  const { hostileGithub } = await import('./github-api/hostile.ts');
  return hostileGithub(version, seed);
}
