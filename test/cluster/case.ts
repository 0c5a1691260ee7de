import type { Cluster, Namespace } from './namespace.ts';

export interface Stage {
  readonly cluster: Cluster;
  /** Makes a namespace of the case's own; it is removed at the end of the case. */
  namespace(name: string): Promise<Namespace>;
}

export interface Case {
  readonly name: string;
  /** Part of the short form, which `.ci/run` calls. */
  readonly short?: boolean;
  /** Left out where the cluster has no ingress, and the table says so. */
  readonly needsIngress?: boolean;
  /** Throws when something is wrong, else returns what was seen, for the table. */
  play(stage: Stage): Promise<string>;
}
