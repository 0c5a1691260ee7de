import { checkSignature, type SigningSecrets } from '../../src/http/signature-check.ts';
import { signatureOf } from '../helpers/signature.ts';
import test from '../helpers/test.ts';

const GITHUB_SECRET = "It's a Secret to Everybody";
const GITHUB_DIGEST = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
const body = Buffer.from('Hello, World!');
const digest = Buffer.from(GITHUB_DIGEST, 'hex');

/** In two pieces, as a body may arrive. */
function matchingSecret(secrets: SigningSecrets, bytes: Buffer, claimed: Buffer) {
  const check = checkSignature(secrets, claimed);
  check.update(bytes.subarray(0, 5));
  check.update(bytes.subarray(5));
  return check.match();
}

test("GitHub's published vector is valid by the current secret, or by the previous one", (t) => {
  const other = 'the new secret';
  t.is(matchingSecret({ current: GITHUB_SECRET, previous: undefined }, body, digest), 'current');
  t.is(matchingSecret({ current: other, previous: GITHUB_SECRET }, body, digest), 'previous');
  t.is(matchingSecret({ current: other, previous: 'another' }, body, digest), undefined);
  t.is(signatureOf(body, GITHUB_SECRET), `sha256=${GITHUB_DIGEST}`, 'of the tests themselves');
});

test('one bit anywhere in the digest or the body makes it wrong', (t) => {
  const secrets = { current: GITHUB_SECRET, previous: undefined };
  const flipped = (bytes: Buffer) =>
    Array.from(bytes, (byte, index) => Buffer.from(bytes).fill(byte ^ 1, index, index + 1));
  for (const changed of flipped(digest)) {
    t.is(matchingSecret(secrets, body, changed), undefined);
  }
  for (const changed of flipped(body)) {
    t.is(matchingSecret(secrets, changed, digest), undefined);
  }
});
