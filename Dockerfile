# A Waymark worker, and all other commands: docker compose exec worker ./waymark chat --agent NAME

FROM maven:3.9.11-eclipse-temurin-17 AS build
WORKDIR /src
COPY . .
# Builds the jar from the sources. Where there are no sources, the jar is there: deploy/image.sh.
RUN --mount=type=cache,target=/root/.m2 ./waymark --version

FROM eclipse-temurin:17.0.18_8-jre
# tini adopts what command tools leave behind, and passes SIGTERM on. bubblewrap is for tools with `sandbox`.
RUN apt-get update && apt-get install -y --no-install-recommends tini bubblewrap && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin waymark
# The health check asks the server with it. The version that docker-compose.yml names, too.
COPY --from=temporalio/admin-tools:1.29.1-tctl-1.18.4-cli-1.5.0 /usr/local/bin/temporal /usr/local/bin/temporal

WORKDIR /opt/waymark
COPY waymark ./
COPY --from=build /src/starter/target/waymark.jar starter/target/
COPY deploy/worker/health.sh deploy/worker/
# The first start makes an archive of classes in the background, with which the next ones start faster.
RUN ./waymark --version && timeout 900 sh -c 'until ls starter/target/*.jsa >/dev/null 2>&1; do sleep 1; done'

USER waymark
ENV TEMPORAL_ADDRESS=127.0.0.1:7233 \
    TEMPORAL_NAMESPACE=default \
    WAYMARK_TASK_QUEUE=waymark \
    WAYMARK_JOURNAL=/tmp/waymark-journal
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=10s --start-period=30s --retries=3 CMD ["./deploy/worker/health.sh"]
ENTRYPOINT ["tini", "--", "./waymark"]
CMD ["worker", "--json", "--agents", "/agents"]

# Without them, the image has those of the image that it is based on.
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Waymark" \
    org.opencontainers.image.description="A worker that runs LLM agents as Temporal workflows" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$REVISION" \
    org.opencontainers.image.source="https://waymark.dev/waymark" \
    org.opencontainers.image.licenses="Apache-2.0"
