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

test("GitHub's published vector is valid", (t) => {
  t.is(matchingSecret({ current: GITHUB_SECRET, previous: undefined }, body, digest), 'current');
});

test("the tests sign as GitHub's published vector does", (t) => {
  t.is(signatureOf(body, GITHUB_SECRET), `sha256=${GITHUB_DIGEST}`);
});

test('a signature by the previous secret is valid, and reported as such', (t) => {
  t.is(matchingSecret({ current: 'the new secret', previous: GITHUB_SECRET }, body, digest), 'previous');
});

test('a signature by neither secret is invalid', (t) => {
  t.is(matchingSecret({ current: 'the new secret', previous: 'another' }, body, digest), undefined);
});

test('one bit anywhere in the digest or the body makes it wrong', (t) => {
  const secrets = { current: GITHUB_SECRET, previous: undefined };
  for (let index = 0; index < digest.length; index++) {
    const changed = Buffer.from(digest);
    changed[index] = (changed[index] ?? 0) ^ 1;
    t.is(matchingSecret(secrets, body, changed), undefined);
  }
  for (let index = 0; index < body.length; index++) {
    const changed = Buffer.from(body);
    changed[index] = (changed[index] ?? 0) ^ 1;
    t.is(matchingSecret(secrets, changed, digest), undefined);
  }
});
