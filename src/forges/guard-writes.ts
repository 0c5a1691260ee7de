import type { Forge } from './port/forge.ts';

export type ForgeWrite =
  | 'setStatus'
  | 'createComment'
  | 'updateComment'
  | 'deleteComment'
  | 'createInlineComments'
  | 'withdrawInlineComments';

/** The forge, with `check` called before every write; it stops the write by throwing. It counts what was written. */
export function guardWrites(
  forge: Forge,
  check: (write: ForgeWrite) => Promise<void>,
): { readonly forge: Forge; writes(): number } {
  let count = 0;

  function guarded<Arguments extends readonly unknown[], Result>(
    name: ForgeWrite,
    write: (...args: Arguments) => Promise<Result>,
  ): (...args: Arguments) => Promise<Result> {
    return async (...args) => {
      await check(name);
      count += 1;
      return write(...args);
    };
  }

  return {
    forge: {
      ...forge,
      setStatus: guarded('setStatus', forge.setStatus),
      createComment: guarded('createComment', forge.createComment),
      updateComment: guarded('updateComment', forge.updateComment),
      deleteComment: guarded('deleteComment', forge.deleteComment),
      createInlineComments: guarded('createInlineComments', forge.createInlineComments),
      withdrawInlineComments: guarded('withdrawInlineComments', forge.withdrawInlineComments),
    },
    writes: () => count,
  };
}
