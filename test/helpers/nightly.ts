import { sized } from './size.ts';
import ava from './test.ts';

/** A test that `npm test` leaves out, in a file with quicker ones of its kind: the nightly run has it with TEST_SIZE=large. */
const nightly: typeof ava.serial = sized(() => {}, ava.serial);
export default nightly;
