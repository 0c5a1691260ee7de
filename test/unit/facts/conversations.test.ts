import { gatherFacts } from '../../../src/facts/gather.ts';
import { factsOf } from '../../../src/facts/table.ts';
import type { Conversation, Conversations } from '../../../src/forges/port/conversations.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import test from '../../helpers/test.ts';

const CONVERSATION: Conversation = {
  author: 'bob',
  bot: false,
  path: 'a.txt',
  line: 1,
  outdated: 'no',
  resolved: 'no',
  resolvedBy: null,
  answeredBy: [],
};

async function read(forge: Forge): Promise<Conversations> {
  const sources = {
    forge,
    statusContext: 'gatehouse',
    baseSha: '',
    preloaded: {},
    authorTrailers: [],
    ownerTeams: async () => [],
    writeAccess: async () => 'unknown' as const,
  };
  return (await gatherFacts(sources, { conversations: [] }, factsOf())).conversations;
}

function forgeOf(conversations: Forge['conversations']): Forge {
  const forge: Partial<Forge> = { self: async () => 'gatehouse[bot]', conversations };
  return forge as Forge;
}

test('conversations that Gatehouse began are left out, in any case of its name', async (t) => {
  const answered = { ...CONVERSATION, answeredBy: ['Gatehouse[bot]'] };
  const conversations = [answered, { ...CONVERSATION, author: 'Gatehouse[bot]' }];
  const others = await read(forgeOf(async () => ({ conversations, complete: true })));
  t.deepEqual(others, { conversations: [CONVERSATION], complete: true });
});

test('conversations that are refused, invalid or too large count as unread; a forge that does not answer is asked again', async (t) => {
  const failing = (kind: ForgeError['kind']) => read(forgeOf(() => Promise.reject(new ForgeError(kind, 'no'))));
  for (const kind of ['refused', 'invalid', 'too-large'] as const) {
    t.deepEqual(await failing(kind), { conversations: [], complete: false }, kind);
  }
  await t.throwsAsync(failing('unavailable'), { instanceOf: ForgeError });
});
