# docker build -t seqgpt-ui .
# docker run -p 7860:7860 -v seqgpt-data:/app/data -v seqgpt-models:/models seqgpt-ui
FROM python:3.11-slim

# An index that has torch for this machine (CPU or CUDA builds), for instance --build-arg TORCH_INDEX=...;
# empty takes what pip finds by itself.
ARG TORCH_INDEX=""

RUN useradd --create-home --uid 1000 seqgpt \
    && python -m venv /opt/seqgpt \
    && mkdir -p /app/data/run /models \
    && chown -R seqgpt:seqgpt /app /models
ENV PATH=/opt/seqgpt/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SEQGPT_HOST=0.0.0.0 \
    SEQGPT_MODELS_DIR=/models

WORKDIR /app
COPY requirements.txt ./
# torch first and exactly, so that nothing else pulls another build of it.
RUN pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$(grep '^torch==' requirements.txt)" \
    && pip install --no-cache-dir -r requirements.txt

COPY --chown=seqgpt:seqgpt . .
USER seqgpt
# The demo model stays in /app/models; downloads go to the volume and are preferred.
VOLUME ["/app/data", "/models"]
EXPOSE 7860
# The page answers while the model loads; /readyz says when that is done.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
CMD ["supervisord", "-c", "supervisord.conf"]
