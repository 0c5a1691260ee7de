import type { Changes } from '../git.ts';
import { MAIN, type Stage } from './stage.ts';

export function makeRepositories(stage: Stage) {
  const { world, forge, find, addRepository, commitOn, openFrom, change } = stage;

  return {
    createRepository(fullName: string, files: Changes = { 'README.md': 'Hello\n' }) {
      commitOn(addRepository(fullName, new Map()), MAIN, files, { message: 'Begin' });
    },
    fork(repository: string, owner: string): string {
      const fullName = `${owner}/${repository.split('/')[1]}`;
      addRepository(fullName, new Map(find(repository).branches));
      return fullName;
    },
    rename(repository: string, newFullName: string) {
      const found = find(repository);
      world.repositories.delete(repository.toLowerCase());
      world.renames.set(repository.toLowerCase(), found);
      found.fullName = newFullName;
      world.repositories.set(newFullName.toLowerCase(), found);
    },
    /** From now on it can be read only; its pull requests stay open. No webhook is sent of it. */
    archive(repository: string) {
      find(repository).archived = true;
    },
    unarchive(repository: string) {
      find(repository).archived = false;
    },
    setTopics(repository: string, ...topics: string[]) {
      find(repository).topics = topics;
    },
    setPrivate(repository: string, isPrivate: boolean) {
      find(repository).isPrivate = isPrivate;
    },
    /** Gitea and Forgejo close the pull requests from it. */
    deleteRepository(repository: string) {
      const gone = find(repository);
      for (const branch of forge === 'github' ? [] : gone.branches.keys()) {
        for (const open of openFrom(gone, branch)) {
          change(open.repository.fullName, open.number, { state: 'closed' });
        }
      }
      gone.deleted = true;
    },
    /** As if what there is had been changed so much earlier, in one repository or in all. */
    age(milliseconds: number, repository?: string) {
      const earlier = (time: string) => new Date(Date.parse(time) - milliseconds).toISOString();
      for (const aged of repository === undefined ? world.repositories.values() : [find(repository)]) {
        aged.pushedAt = earlier(aged.pushedAt);
        for (const on of aged.pulls.values()) {
          on.updatedAt = earlier(on.updatedAt);
        }
      }
    },
  };
}
