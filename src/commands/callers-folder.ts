/**
 * Where the relative paths of the command line begin. npm runs the scripts of a project in the project's own folder,
 * `root`, and sets INIT_CWD to the folder that it was called from. In any other folder the variable comes from another
 * project's script.
 */
export function callersFolder(root: string, folder: string, env: Readonly<Record<string, string | undefined>>): string {
  return (folder === root ? env['INIT_CWD'] : undefined) ?? '.';
}
