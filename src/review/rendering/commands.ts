import { COMMAND_WORD } from '../../forges/port/command.ts';

/** How the list of commands on a pull request is found again. */
export const COMMANDS_MARKER = '<!-- gatehouse:commands -->';

/** What Gatehouse answers to a command that it does not know. It begins with no command itself. */
export function renderCommands(): string {
  return `${[
    COMMANDS_MARKER,
    'Gatehouse knows two commands. Each is the first line of a new comment:',
    [
      `- \`${COMMAND_WORD} recheck\` judges this pull request again. For its author and people with write access, once a minute.`,
      `- \`${COMMAND_WORD} override <rule> <full commit id> <reason>\` lets a rule pass that blocks. For the people whom the policy names under \`override\`, if any; the comment of Gatehouse then has the line to copy.`,
    ].join('\n'),
  ].join('\n\n')}\n`;
}
