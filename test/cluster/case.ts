import type { Cluster, Namespace } from './namespace.ts';

export interface Stage {
  readonly cluster: Cluster;
  /** Makes a namespace of the case's own; it is removed at the end of the case. */
  namespace(name: string): Promise<Namespace>;
}

export type Need = 'ingress' | 'prometheus';

export interface Case {
  readonly name: string;
  /** Part of the short form, which `.ci/run` calls. */
  readonly short?: boolean;
  /** What it needs of the cluster or of this machine; without that it is left out, and the table says so. */
  readonly needs?: Need;
  /** Throws when something is wrong, else returns what was seen, for the table. */
  play(stage: Stage): Promise<string>;
}
