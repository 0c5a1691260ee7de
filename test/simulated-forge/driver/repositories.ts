import type { Changes } from '../git.ts';
import { MAIN, type Stage } from './stage.ts';

/** The repositories themselves. Repositories are `owner/name`. */
export interface Repositories {
  createRepository(fullName: string, files?: Changes): void;
  /** A copy under another owner. Returns its full name. */
  fork(repository: string, owner: string): string;
  rename(repository: string, newFullName: string): void;
  /** From now on it can be read only; its pull requests stay open. No webhook is sent of it. */
  archive(repository: string): void;
  unarchive(repository: string): void;
  setPrivate(repository: string, isPrivate: boolean): void;
  setTopics(repository: string, ...topics: string[]): void;
  /** Gitea and Forgejo close the pull requests from it. */
  deleteRepository(repository: string): void;
  /** As if what there is had been changed so much earlier, in one repository or in all. */
  age(milliseconds: number, repository?: string): void;
}

export function makeRepositories(stage: Stage): Repositories {
  const { world, forge, find, addRepository, commitOn, openFrom, change } = stage;

  return {
    createRepository(fullName, files = { 'README.md': 'Hello\n' }) {
      commitOn(addRepository(fullName, new Map()), MAIN, files, { message: 'Begin' });
    },
    fork(repository, owner) {
      const fullName = `${owner}/${repository.split('/')[1]}`;
      addRepository(fullName, new Map(find(repository).branches));
      return fullName;
    },
    rename(repository, newFullName) {
      const found = find(repository);
      world.repositories.delete(repository.toLowerCase());
      world.renames.set(repository.toLowerCase(), found);
      found.fullName = newFullName;
      world.repositories.set(newFullName.toLowerCase(), found);
    },
    archive(repository) {
      find(repository).archived = true;
    },
    unarchive(repository) {
      find(repository).archived = false;
    },
    setTopics(repository, ...topics) {
      find(repository).topics = topics;
    },
    setPrivate(repository, isPrivate) {
      find(repository).isPrivate = isPrivate;
    },
    deleteRepository(repository) {
      const gone = find(repository);
      for (const branch of forge === 'github' ? [] : gone.branches.keys()) {
        for (const open of openFrom(gone, branch)) {
          change(open.repository.fullName, open.number, { state: 'closed' });
        }
      }
      gone.deleted = true;
    },
    age(milliseconds, repository) {
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
