FROM python:3.12-slim

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OPENBLAS_NUM_THREADS=1 \
    OMP_NUM_THREADS=1 \
    HOST=0.0.0.0 \
    PORT=8000 \
    JEDI_DATA_DIR=/data

WORKDIR /app
COPY requirements.txt requirements-deep.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt \
    && pip install --no-cache-dir --no-deps --require-hashes -r requirements-deep.txt
RUN useradd --system --uid 10001 jedi && mkdir /data /backups && chown jedi /data /backups
COPY --chown=root:root . .

USER jedi
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
CMD ["gunicorn", "-c", "jedi_web/gunicorn_conf.py", "jedi_web.wsgi"]
