import type { World, WorldOptions } from './world.ts';

export interface Case {
  readonly name: string;
  /** Part of the short form, which `.ci/run` calls. */
  readonly short?: boolean;
  /** The container images that it needs. */
  readonly images?: readonly string[];
  readonly options?: WorldOptions;
  /** Makes the fault and takes it away again. Only what a supervisor would do is done to the processes. */
  make(world: World): Promise<void>;
}
