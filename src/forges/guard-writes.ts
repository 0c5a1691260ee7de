import type { Forge } from './forge.ts';

/** The forge, but that `check` comes before every write and can stop it by throwing. It counts what was written. */
export function guardWrites(forge: Forge, check: () => Promise<void>): { readonly forge: Forge; writes(): number } {
  let count = 0;

  function guarded<Arguments extends readonly unknown[], Result>(
    write: (...given: Arguments) => Promise<Result>,
  ): (...given: Arguments) => Promise<Result> {
    return async (...given) => {
      await check();
      count += 1;
      return write(...given);
    };
  }

  return {
    forge: {
      ...forge,
      setStatus: guarded(forge.setStatus),
      createComment: guarded(forge.createComment),
      updateComment: guarded(forge.updateComment),
      deleteComment: guarded(forge.deleteComment),
      createInlineComments: guarded(forge.createInlineComments),
      withdrawInlineComments: guarded(forge.withdrawInlineComments),
    },
    writes: () => count,
  };
}
