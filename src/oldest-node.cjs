'use strict';
// Runs before anything else, in syntax that every Node reads.

/** The oldest Node that runs Gatehouse: the first whose threads say what processor time they have used. */
const OLDEST_NODE = '24.6';

const [major, minor] = process.versions.node.split('.').map(Number);
const [oldestMajor, oldestMinor] = OLDEST_NODE.split('.').map(Number);
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  process.stderr.write(`Gatehouse needs Node ${OLDEST_NODE} or newer, this is ${process.versions.node}\n`);
  process.exit(1);
}

module.exports = { OLDEST_NODE };
