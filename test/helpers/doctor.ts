import { doctor } from '../../src/commands/doctor/doctor.ts';
import { runCommand } from './run-command.ts';

export interface DoctorSaid {
  readonly code: number;
  readonly text: string;
  /** Its lines about one check, without the check's name. */
  of(check: string): readonly string[];
}

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
