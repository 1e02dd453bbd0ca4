# The plain tool: `docker build -t assay .`, `docker run --rm --network host assay load http://127.0.0.1:8080/`.
# Written where no container can be built, and so never built yet.
FROM rust:1-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends git python3-venv
COPY . /assay
WORKDIR /assay
RUN make wheel

FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*
COPY --from=build /assay/dist /dist
RUN python3 -m venv /opt/assay && /opt/assay/bin/pip install --no-cache-dir /dist/*.whl
WORKDIR /work
ENTRYPOINT ["/opt/assay/bin/assay"]
