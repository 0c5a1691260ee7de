import type { Build } from './image.ts';
import { pageUrl } from './publisher.ts';
import type { Source } from './source.ts';

/** Where an artefact was built from: the predicate https://slsa.dev/provenance/v1. `builder`: the URI of what ran the build. */
export function provenance({ publisher, version, revision }: Source, build: Build, builder: string): object {
  const { repository } = publisher;
  return {
    buildDefinition: {
      buildType: pageUrl(publisher, version, 'release/publish.ts'),
      externalParameters: { repository, revision, version, nodeImage: build.nodeImage, platforms: build.platforms },
      internalParameters: {},
      resolvedDependencies: [
        { uri: `git+${repository}@${revision}`, digest: { gitCommit: revision } },
        { uri: `docker://${build.nodeImage}`, digest: { sha256: build.nodeImage.replace(/^.*@sha256:/, '') } },
      ],
    },
    runDetails: { builder: { id: builder } },
  };
}
