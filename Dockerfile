# The packages, exactly those of the lock file
FROM python:3.11-slim AS packages
COPY requirements.lock /
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r /requirements.lock

# The product, run by a user that can write to /var/lib/gpu-planner alone
FROM python:3.11-slim
RUN useradd --system --uid 10001 --no-create-home planner \
 && install -d -o planner -g planner -m 0750 /var/lib/gpu-planner
COPY --from=packages /venv /venv
COPY . /app
WORKDIR /app
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 VAR_DIR=/var/lib/gpu-planner
USER planner
VOLUME /var/lib/gpu-planner
EXPOSE 8000
CMD ["gunicorn", "planner.wsgi", "--bind", "0.0.0.0:8000", "--workers", "3", "--worker-tmp-dir", "/dev/shm", "--max-requests", "5000", "--max-requests-jitter", "500"]
