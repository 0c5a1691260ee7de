# Gatehouse in one image: Node, the production dependencies and src/, nothing else.
#
#   docker build -t gatehouse --build-arg VERSION=0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" .
#
# NODE_IMAGE may name a mirror, or the same image by its digest.
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No production dependency has an install script that it needs. Type declarations and source maps serve editors only.
RUN --mount=type=cache,target=/root/.npm,sharing=locked \
    npm ci --omit=dev --ignore-scripts --no-update-notifier \
    && find node_modules -type f '(' -name '*.map' -o -name .env ')' -delete \
    && find node_modules -type f -name '*.d.?ts' -delete \
    && find node_modules -type f -name '*.d.ts' -delete

FROM ${NODE_IMAGE} AS service
# The package managers have no work here. `gatehouse` is for `kubectl exec`.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn* \
      /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* \
    && printf '#!/bin/sh\nexec node /app/src/main.ts "$@"\n' >/usr/local/bin/gatehouse \
    && chmod 755 /usr/local/bin/gatehouse
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY src src
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="Self-hosted, Kubernetes-native pull request review service" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV GATEHOUSE_REVISION="${REVISION}"
# By number, so that kubelet can hold the pod to runAsNonRoot.
USER 65532:65532
EXPOSE 8080 9090
ENTRYPOINT ["node", "/app/src/main.ts"]
CMD ["serve"]

# For `skaffold dev`: src/ may be written to, and the door starts again when a file changes.
FROM service AS dev
USER 0
RUN printf '#!/bin/sh\n[ "$1" = serve ] && watch=--watch\nexec node $watch /app/src/main.ts "$@"\n' >/usr/local/bin/gatehouse-dev \
    && chmod 755 /usr/local/bin/gatehouse-dev \
    && chown -R 65532:65532 src
USER 65532:65532
ENTRYPOINT ["gatehouse-dev"]

# The last stage is what `docker build` makes.
FROM service
