/**
 * Loaded before everything else (`node --import`): the wall clock of this process jumps an hour ahead at a SIGUSR2,
 * two hours back at the next, and so on. What counts from a fixed point (performance.now, timers) goes on, as it does
 * when a machine's clock is set.
 */
const HOUR_MS = 60 * 60 * 1_000;
const RealDate = Date;
let shift = 0;

process.on('SIGUSR2', () => {
  shift = shift > 0 ? -HOUR_MS : HOUR_MS;
});

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length > 0 ? given : [RealDate.now() + shift], newTarget),
  apply: () => new RealDate(RealDate.now() + shift).toString(),
  get: (target, key, receiver) => (key === 'now' ? () => RealDate.now() + shift : Reflect.get(target, key, receiver)),
});
