import { makeDoctor } from '../../src/commands/doctor/doctor.ts';
import { makeReviewThreads } from '../../src/review/threads/review-threads.ts';
import { runCommand } from './run-command.ts';

export interface DoctorSaid {
  readonly code: number;
  readonly text: string;
  /** Its lines about one check, without the check's name. */
  of(check: string): readonly string[];
}

/** A thread takes a quarter of a second of processor time to start: the runs of a test file share one. */
const threads = makeReviewThreads({ size: 1 });
const doctor = makeDoctor(() => ({ ...threads, close: async () => {} }));

/** Runs `gatehouse doctor` in this process, with nothing but this environment. */
export async function askDoctor(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<DoctorSaid> {
  const { code, stdout, stderr } = await runCommand(doctor, args, { env });
  const text = stdout + stderr;
  return {
    code,
    text,
    of: (check) =>
      text.split('\n').flatMap((line) => {
        const [, mark, name, said] = /^(.) (\S+(?: \S+)*) {2,}(.*)$/.exec(line) ?? [];
        return name === check ? [`${mark} ${said}`] : [];
      }),
  };
}
