# docker run --rm --read-only --tmpfs /tmp -v "$PWD/bundle.tar.gz:/in/bundle.tar.gz:ro" postmortem analyze /in/bundle.tar.gz
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml hatch_build.py README.md LICENSE signatures.yaml ./
COPY src ./src
RUN pip install --no-cache-dir --prefix=/install .

FROM python:3.12-slim
COPY --from=build /install /usr/local
ENV PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=/tmp/matplotlib XDG_CACHE_HOME=/tmp/cache
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin postmortem
USER 10001
WORKDIR /in
ENTRYPOINT ["postmortem"]
CMD ["--help"]
