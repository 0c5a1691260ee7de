import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { View } from './reads.ts';

/** A file for each version of Gitea: `gitea-1.26.0.jsonl`. One that is deleted is made anew by the next run on that version. */
const FOLDER = new URL('recorded/', import.meta.url);
/** In place of the address of the one that was recorded. */
const ADDRESS = 'http://gitea.test';
/** Of an answer's headers, those that Gatehouse reads. */
const HEADERS = ['content-type', 'link', 'location', 'x-total-count'] as const;
const BAD_GATEWAY = 502;

/** Where the script has come to. */
type Place = Omit<View, 'url' | 'token'>;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What was read after one step of the script: `GET /path` with its answer, where it is not what it was before. */
interface RecordedStep {
  readonly step: string;
  readonly view: Place;
  readonly answers: Readonly<Record<string, Answer>>;
}

export interface Recording {
  readonly version: string;
  readonly steps: readonly RecordedStep[];
}

/** A forge's address for requests, which end with `close()`. */
interface Front {
  readonly url: string;
  close(): void;
}

async function listen(handle: RequestListener): Promise<Front> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export interface Recorder extends Front {
  /** Keeps what was last answered to each request since the step before. */
  step(step: string, view: Place): void;
  recording(version: string): Recording;
}

/** Stands before a forge, and keeps what it answers to `GET`. */
export async function startRecorder(target: string): Promise<Recorder> {
  const last = new Map<string, string>();
  const steps: RecordedStep[] = [];
  let answers: Record<string, Answer> = {};
  const front: Front = await listen(async ({ method = '', url = '', headers }, response) => {
    try {
      const { authorization = '', accept = '*/*', 'user-agent': agent = '' } = headers;
      const sent = { authorization, accept, 'user-agent': agent };
      const answer = await fetch(`${target}${url}`, { method, headers: sent, redirect: 'manual' });
      const kept = {
        status: answer.status,
        headers: Object.fromEntries(
          HEADERS.flatMap((name) => {
            const value = answer.headers.get(name);
            return value === null ? [] : [[name, value.replaceAll(target, ADDRESS)]];
          }),
        ),
        body: (await answer.text()).replaceAll(target, ADDRESS),
      };
      answers[`${method} ${url}`] = kept;
      send(response, kept, front.url);
    } catch (error) {
      response.writeHead(BAD_GATEWAY).end(String(error));
    }
  });
  return {
    ...front,
    step(step, view) {
      const isNew = ([request, answer]: [string, Answer]) => last.get(request) !== JSON.stringify(answer);
      const changed = Object.entries(answers).filter(isNew);
      for (const [request, answer] of changed) {
        last.set(request, JSON.stringify(answer));
      }
      steps.push({ step, view, answers: Object.fromEntries(changed) });
      answers = {};
    },
    recording: (version) => ({ version, steps }),
  };
}

export interface Player extends Front {
  /** From now on it answers as after that step. Undefined where the recording has no such step. */
  at(step: string): Place | undefined;
  /** Requests that were never recorded. */
  readonly unknown: ReadonlySet<string>;
}

/** Answers as was recorded. */
export async function startPlayer({ steps }: Recording): Promise<Player> {
  const answers = new Map<string, Answer>();
  const unknown = new Set<string>();
  let next = 0;
  const front: Front = await listen(({ method, url }, response) => {
    const answer = answers.get(`${method} ${url}`);
    if (answer === undefined) {
      unknown.add(`${method} ${url}`);
      response.writeHead(BAD_GATEWAY).end('not recorded');
    } else {
      send(response, answer, front.url);
    }
  });
  return {
    ...front,
    at(step) {
      const end = steps.findIndex((recorded) => recorded.step === step);
      for (; next <= end; next += 1) {
        for (const [request, answer] of Object.entries(steps[next]?.answers ?? {})) {
          answers.set(request, answer);
        }
      }
      return steps[end]?.view;
    },
    unknown,
  };
}

function send(response: Parameters<RequestListener>[1], { status, headers, body }: Answer, url: string): void {
  const own = Object.entries(headers).map(([name, value]) => [name, value.replaceAll(ADDRESS, url)]);
  response.writeHead(status, Object.fromEntries(own)).end(body.replaceAll(ADDRESS, url));
}

/** One for each version that was recorded. */
export function readRecordings(): readonly Recording[] {
  const files = existsSync(FOLDER) ? readdirSync(FOLDER).toSorted() : [];
  return files.map((file) => {
    const [first = '', ...lines] = readFileSync(new URL(file, FOLDER), 'utf8').trim().split('\n');
    return { version: JSON.parse(first).version, steps: lines.map((line) => JSON.parse(line)) };
  });
}

/** A line of JSON for the version, and one for each step. */
export function writeRecording({ version, steps }: Recording): void {
  mkdirSync(FOLDER, { recursive: true });
  const lines = [{ version }, ...steps].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(new URL(`gitea-${version.replaceAll(/[^\w.-]/g, '-')}.jsonl`, FOLDER), lines.join(''));
}
