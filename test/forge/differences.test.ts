import { setTimeout as sleep } from 'node:timers/promises';
import { sharedGitea } from '../helpers/gitea.ts';
import test from '../helpers/test.ts';
import { type Played, SCRIPT, startScript } from './difference-script.ts';
import { readAll, type Seen, type View } from './reads.ts';
import { realForge } from './real.ts';
import { readRecordings, startPlayer, startRecorder, writeRecording } from './recording.ts';
import { simulatedForge } from './simulated.ts';

/** Where the simulated Gitea differs from the real one in what Gatehouse reads, and why that is accepted. */
const ACCEPTED: readonly { readonly difference: RegExp; readonly why: string }[] = [
  {
    difference: /^\/assignees\//,
    why: 'the simulated forge has no list of collaborators: whoever commented, and is no outsider, may write',
  },
];

/** The real one processes a push later: it is asked so often before the first difference counts. */
const LOOKS = 60;
/** After that one, which fails the test. */
const LATER_LOOKS = 4;
const PAUSE_MS = 400;
const TIMEOUT_MS = 900_000;

/** What a Gitea shows after a step, which must be like `expected`. */
type Look = (step: string, expected: Seen, isAlike: boolean) => Promise<Seen>;

const gitea = sharedGitea();

if (gitea !== undefined) {
  test.serial('the simulated Gitea answers as the real one in all that Gatehouse reads', async (t) => {
    t.timeout(TIMEOUT_MS);
    const forge = realForge(gitea);
    const recorder = await startRecorder(gitea.url);
    try {
      const real = await startScript(forge);
      const { found, faults } = await play(async (step, expected, isAlike) => {
        await SCRIPT[step]?.(real);
        let seen: Seen;
        let looks = isAlike ? LOOKS : LATER_LOOKS;
        do {
          await sleep(PAUSE_MS);
          seen = await readAll({ ...viewOf(real), url: recorder.url });
          looks -= 1;
        } while (looks > 0 && !differencesOf(seen.read, expected.read, '').every(isAccepted));
        recorder.step(step, viewOf(real));
        return seen;
      });
      t.deepEqual(faults, [], 'the answers of the real one, checked against its own description');
      t.deepEqual(
        found.filter((one) => !isAccepted(one)),
        [],
      );
      const unused = ACCEPTED.filter(({ difference }) => !found.some((one) => difference.test(one)));
      t.deepEqual(unused, [], 'accepted, but not found');
      if (!readRecordings().some(({ version }) => version === gitea.version)) {
        writeRecording(recorder.recording(gitea.version));
      }
    } finally {
      recorder.close();
      await forge.close();
    }
  });
}

test('what a real Gitea answers is recorded', (t) => {
  t.not(readRecordings().length, 0);
});

for (const recording of readRecordings()) {
  test(`simulated Gitea and client agree with what Gitea ${recording.version} answered`, async (t) => {
    const player = await startPlayer(recording);
    t.teardown(() => player.close());
    const steps = recording.steps.map(({ step }) => step);
    t.deepEqual(steps, Object.keys(SCRIPT), 'the script has changed: delete test/forge/recorded, and record anew');
    const { found } = await play(async (step) => {
      const view = player.at(step);
      return view === undefined ? t.fail(step) : readAll({ ...view, url: player.url, token: '' });
    });
    t.deepEqual([...player.unknown], [], 'not recorded: delete test/forge/recorded, and record anew');
    t.deepEqual(
      found.filter((one) => !isAccepted(one)),
      [],
    );
  });
}

/** Plays the script on a simulated Gitea. Each difference comes once, with the step after which it appeared. */
async function play(look: Look) {
  const forge = await simulatedForge('gitea');
  const faults = new Set<string>();
  const steps = new Map<string, string>();
  try {
    const simulated = await startScript(forge);
    for (const [step, act] of Object.entries(SCRIPT)) {
      await act(simulated);
      const expected = await readAll(viewOf(simulated));
      const seen = await look(step, expected, [...steps.keys()].every(isAccepted));
      for (const difference of differencesOf(seen.read, expected.read, '')) {
        steps.set(difference, steps.get(difference) ?? step);
      }
      for (const fault of seen.faults) {
        faults.add(fault);
      }
    }
  } finally {
    await forge.close();
  }
  return { faults: [...faults], found: [...steps].map(([difference, step]) => `${difference} (after: ${step})`) };
}

function viewOf({ forge, site, number, sha, lineReview }: Played): View {
  return { url: forge.url, token: forge.token, repository: site.repository, number, sha, lineReview };
}

function isAccepted(found: string): boolean {
  return ACCEPTED.some(({ difference }) => difference.test(found));
}

/** Each begins with the path of its field. */
function differencesOf(real: unknown, simulated: unknown, at: string): readonly string[] {
  if (isObject(real) && isObject(simulated)) {
    const names = [...new Set([...Object.keys(real), ...Object.keys(simulated)])];
    return names.flatMap((name) => differencesOf(real[name], simulated[name], `${at}/${name}`));
  }
  return Object.is(real, simulated)
    ? []
    : [`${at}: real ${JSON.stringify(real)}, simulated ${JSON.stringify(simulated)}`];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
