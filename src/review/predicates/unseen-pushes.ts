import type { Authors } from '../../facts/authors/authors.ts';
import { quotedList, say, type Text } from '../text.ts';

const SHA_SHOWN = 10;
const SHOWN = 3;

/** As a part of what was found: nothing where webhooks told of all pushes, or were not looked at. */
export function aboutUnseen({ unseen }: Pick<Authors, 'unseen'>): Text {
  const shas = unseen.map((sha) => sha.slice(0, SHA_SHOWN));
  return shas.length === 0
    ? []
    : say`; who pushed ${quotedList(shas.toReversed(), SHOWN)} was not seen, and counts as the author`;
}
