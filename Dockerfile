# Lanista's image: every role of a cluster is this image with another command (see docker-compose.yml).
FROM python:3.11.15-slim-bookworm

# An index with a build of PyTorch without CUDA, which is a tenth of the size; empty takes the usual build.
ARG TORCH_INDEX=

ENV PATH=/opt/venv/bin:$PATH \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

RUN useradd --uid 1000 --create-home lanista \
    && install --directory --owner lanista --group lanista \
        /var/lib/lanista /var/lib/lanista/artifacts /var/lib/lanista/cache /var/lib/lanista/tensorboard \
        /var/lib/lanista/traces \
    && python -m venv /opt/venv

# Dependencies come first: they change seldom, and this layer is by far the largest.
WORKDIR /opt/lanista
COPY pyproject.toml constraints.txt ./
RUN python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
        extras = project['optional-dependencies']; \
        print(*project['dependencies'], *extras['stack'], *extras['s3'], *extras['tracing'], sep='\n')" > requirements.txt \
    && PIP_EXTRA_INDEX_URL=$TORCH_INDEX pip install --constraint constraints.txt --requirement requirements.txt

COPY . .
RUN pip install --no-deps --editable . \
    && python -m compileall -q lanista api workers orchestrator league migrations

USER lanista
WORKDIR /var/lib/lanista
CMD ["lanista", "--help"]
