/** What is posted beside the status, the least first: nothing, the one comment, or comments at lines as well. */
export const COMMENTS = ['off', 'summary', 'all'] as const;
export type Comments = (typeof COMMENTS)[number];
export const DEFAULT_COMMENTS: Comments = 'all';
