# The image has Node, the production dependencies, src/ and the cookbook, which `gatehouse init` reads; nothing else.
#
#   docker build -t gatehouse --build-arg VERSION=0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" .
#
# Set NODE_IMAGE to use a mirror, or to pin the digest. Whatever runs, runs on the builder's own platform, and the last
# stage only copies: an image for another platform needs no emulation.
ARG NODE_IMAGE=node:24-trixie-slim

FROM --platform=${BUILDPLATFORM} ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No production dependency needs its install script. Type declarations and source maps are only for editors.
RUN --mount=type=cache,target=/root/.npm,sharing=locked \
    npm ci --omit=dev --ignore-scripts --no-update-notifier \
    && find node_modules -type f '(' -name '*.map' -o -name .env ')' -delete \
    && find node_modules -type f -name '*.d.?ts' -delete \
    && find node_modules -type f -name '*.d.ts' -delete

FROM ${NODE_IMAGE} AS node

# The package managers are not needed at run time. `gatehouse` is a shortcut for `kubectl exec`.
FROM --platform=${BUILDPLATFORM} ${NODE_IMAGE} AS files
COPY --from=node / /image
RUN rm -rf /image/usr/local/lib/node_modules /image/opt/yarn* \
      /image/usr/local/bin/npm /image/usr/local/bin/npx /image/usr/local/bin/corepack /image/usr/local/bin/yarn* \
    && printf '#!/bin/sh\nexec node /app/src/main.js "$@"\n' >/image/usr/local/bin/gatehouse \
    && chmod 755 /image/usr/local/bin/gatehouse
WORKDIR /image/app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY src src
COPY docs/cookbook.md docs/cookbook.md

FROM scratch AS service
COPY --from=files /image /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_ENV=production
WORKDIR /app
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="Self-hosted, Kubernetes-native pull request review service" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV GATEHOUSE_REVISION="${REVISION}"
# A numeric user, so that kubelet can check runAsNonRoot.
USER 65532:65532
EXPOSE 8080 9090
ENTRYPOINT ["node", "/app/src/main.js"]
CMD ["serve"]

# For `skaffold dev`: src/ is writable, and the door restarts when a file changes.
FROM service AS dev
USER 0
RUN printf '#!/bin/sh\n[ "$1" = serve ] && watch=--watch\nexec node $watch /app/src/main.js "$@"\n' >/usr/local/bin/gatehouse-dev \
    && chmod 755 /usr/local/bin/gatehouse-dev \
    && chown -R 65532:65532 src
USER 65532:65532
ENTRYPOINT ["gatehouse-dev"]

# `docker build` builds the last stage.
FROM service
