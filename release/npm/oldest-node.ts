/** The oldest Node that the npm package runs on: the first whose threads say what processor time they have used. */
export const OLDEST_NODE = '24.6';
