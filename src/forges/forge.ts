/** The forges that Gatehouse speaks to. GitHub Enterprise Server is `github` with a `FORGE_URL` of its own. */
export type ForgeName = 'github' | 'gitea' | 'forgejo';

/** Which pull request: `repository` is `owner/name` as the forge spells it, `number` counts from 1. */
export interface PullRequestRef {
  readonly repository: string;
  readonly number: number;
}
