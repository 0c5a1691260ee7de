/** A program in a pod that waits for others to run something there. */
setInterval(() => {}, 1_000_000);
