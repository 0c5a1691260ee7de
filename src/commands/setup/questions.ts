import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../failures.ts';

export interface Question {
  readonly text: string;
  /** The option or variable that answers it without a question. */
  readonly option: string;
  /** The answer where nothing is typed, or nobody is asked. */
  readonly fallback?: string;
  /** What is typed is not shown. */
  readonly hidden?: boolean;
  /** What is wrong with an answer; undefined when nothing is. */
  readonly fault?: (answer: string) => string | undefined;
}

export interface Questions {
  /** Whether somebody is there to answer. */
  readonly attended: boolean;
  /** Asks until the answer has no fault. */
  ask(question: Question): Promise<string>;
  /** True where nobody is asked. */
  confirm(text: string): Promise<boolean>;
}

/** The value of an option or a variable, or else the answer to the question. */
export async function resolve(
  questions: Questions,
  configured: string | undefined,
  question: Question,
): Promise<string> {
  if (configured === undefined) {
    return questions.ask(question);
  }
  const fault = question.fault?.(configured);
  if (fault !== undefined) {
    throw new UsageError(`${question.option}: ${fault}`);
  }
  return configured;
}

/** For `--yes`, and where there is no terminal. */
export const UNATTENDED: Questions = {
  attended: false,
  ask({ option, fallback }) {
    return fallback === undefined
      ? Promise.reject(
          new UsageError(`${option} is missing, and setup asks no questions with --yes or without a terminal`),
        )
      : Promise.resolve(fallback);
  },
  confirm: () => Promise.resolve(true),
};

/** Questions in a terminal. Between two of them Ctrl+C ends the process as usual. */
export function questionsOn(input: NodeJS.ReadableStream, output: { write(text: string): unknown }): Questions {
  async function readLine(prompt: string, hidden: boolean): Promise<string> {
    let silent = false;
    const screen = new Writable({
      write(chunk, _encoding, done) {
        if (!silent) {
          output.write(String(chunk));
        }
        done();
      },
    });
    // Without a history: the arrow keys would show what was typed unseen.
    const lines = createInterface({ input, output: screen, terminal: true, historySize: 0 });
    const ended = new AbortController();
    lines.on('SIGINT', () => lines.close());
    lines.once('close', () => ended.abort());
    try {
      if (!hidden) {
        return (await lines.question(prompt, { signal: ended.signal })).trim();
      }
      output.write(prompt);
      silent = true;
      const answer = await lines.question('', { signal: ended.signal });
      output.write('\n');
      return answer.trim();
    } catch (error) {
      throw ended.signal.aborted ? new Error('stopped at a question; run it again to continue') : error;
    } finally {
      lines.close();
    }
  }

  return {
    attended: true,
    async ask({ text, fallback, hidden = false, fault }) {
      const prompt = `${text}${fallback ? ` [${fallback}]` : ''}: `;
      for (;;) {
        const typed = await readLine(prompt, hidden);
        const answer = typed === '' ? fallback : typed;
        const wrong = answer === undefined ? 'an answer is required' : answer === '' ? undefined : fault?.(answer);
        if (answer !== undefined && wrong === undefined) {
          return answer;
        }
        output.write(`  ${wrong}\n`);
      }
    },
    async confirm(text) {
      const answer = await readLine(`${text} [Y/n] `, false);
      return /^(?:y|yes)?$/i.test(answer);
    },
  };
}
