// The index is beside this script, so the search works without a network.
const base = new URL('pagefind/', document.currentScript.src).href;
addEventListener('DOMContentLoaded', () => {
  new PagefindUI({
    element: '#search',
    bundlePath: base,
    showImages: false,
    showSubResults: true,
    resetStyles: false,
    // A long reference page is no worse a place than a short one.
    ranking: { pageLength: 0, termSaturation: 2 },
  });
});
