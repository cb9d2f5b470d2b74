# ammi serve on port 8077, of a collection in a volume (docs/server.md#in-a-container).
# tests/container.py runs these steps without Docker, apart from what only an image has: its base and its user.
FROM python:3.11-slim AS build
WORKDIR /source
COPY constraints.txt ./
RUN python -m pip install --no-cache-dir -c constraints.txt hatchling
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m hatchling build -t wheel -d /dist

FROM python:3.11-slim
# For builds of torch without CUDA, which are gigabytes smaller: --build-arg PIP_EXTRA_INDEX_URL=...
ARG PIP_EXTRA_INDEX_URL
COPY constraints.txt /install/
COPY --from=build /dist /install
RUN python -m pip install --no-cache-dir -c /install/constraints.txt "$(echo /install/*.whl)[web]"
RUN useradd --create-home --uid 1000 ammi && install --directory --owner ammi /data
USER ammi
VOLUME /data
EXPOSE 8077
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD python -c "import urllib.request as web; web.urlopen('http://127.0.0.1:8077/health', timeout=4)"
# AMMI_TOKEN has the token, without which the server does not listen to other machines.
ENTRYPOINT ["ammi", "serve", "--host", "0.0.0.0", "--port", "8077"]
CMD ["/data/collection"]
