/** How sections are ranked: by their own heading first, whatever is in the headings above it. */
export const SEARCH = { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } };
