# syntax=docker/dockerfile:1
# One file for the images of all services:
#   docker build --build-arg SERVICE=settings -t plinth/settings:0.1.0 .
#   docker build --build-arg SERVICE=pdf-renderer --build-arg RUNTIME=browser -t plinth/pdf-renderer:0.1.0 .
#   docker build --build-arg SERVICE=migrate -t plinth/migrate:0.1.0 .
# A worker is another command of the image of its service: `docker run plinth/workflow:0.1.0 worker.js`.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
ARG RUNTIME=plain

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node tools/development/build/generate.ts && node tools/development/build/build.ts
ARG SERVICE
RUN node tools/release/images/assemble.ts "${SERVICE:?is missing}" /image

FROM ${NODE_IMAGE} AS plain
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/* /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx \
    /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn*

# For the process that prints PDF: the browser, and the cage it runs in.
FROM plain AS browser
RUN apt-get update \
  && apt-get install -y --no-install-recommends chromium bubblewrap fonts-liberation fonts-dejavu-core fonts-wqy-microhei fonts-noto-color-emoji \
  && rm -rf /var/lib/apt/lists/*
ENV PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium

FROM ${RUNTIME}
ARG SERVICE
LABEL org.opencontainers.image.title="plinth/${SERVICE}" org.opencontainers.image.licenses="MIT"
# Node.js works on files in four threads. A few uploads of one tenant take all of them, and every small step of the files
# of others waits. A thread costs little more than its stack.
ENV NODE_ENV=production UV_THREADPOOL_SIZE=16
WORKDIR /app
COPY --from=build /image/ ./
USER 10001:10001
EXPOSE 8080 9090 9091
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "healthcheck.mjs"]
ENTRYPOINT ["/usr/bin/tini", "--", "node", "--enable-source-maps"]
CMD ["main.js"]
