const SIZE = process.env['TEST_SIZE'] ?? '';
if (!['', 'large'].includes(SIZE)) {
  throw new Error(`TEST_SIZE is "${SIZE}"; it must be "large", or unset`);
}

/** `TEST_SIZE=large`, as in the nightly run: the number that is promised, instead of one that shows the same sooner. */
export function sized<T>(usual: T, large: T): T {
  return SIZE === 'large' ? large : usual;
}
