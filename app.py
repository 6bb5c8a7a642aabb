"""The web process: page, named endpoints and REST under one address; starts the worker it needs beside itself.

Loads no model: that is the worker's business, so the page opens at once and says what it waits for.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

import uvicorn
from fastapi import FastAPI

from seqgpt_ui.api.app import create_app
from seqgpt_ui.api.service import Service
from seqgpt_ui.client import WorkerClient
from seqgpt_ui.errors import SeqGPTError, SettingsError
from seqgpt_ui.logs import configure_logging
from seqgpt_ui.pipeline import Limits, Pipeline
from seqgpt_ui.processes import ensure_worker
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.settings import Settings, load_settings

# An open page holds a connection for ever; after this long the server stops without it.
GRACE_S = 3
BACKLOG = 128


def create_web_app(settings: Settings, client: WorkerClient) -> FastAPI:
    """REST first, the pages behind it. Raises ``InvalidTemplate`` when the template folder cannot be read."""
    templates = TemplateLibrary.from_folder(settings.templates_dir)
    # Read when Gradio is imported, which therefore happens here and not above.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    from seqgpt_ui.ui.blocks import create_blocks, mount_pages

    limits = Limits(settings.max_text_chars, settings.max_labels, settings.max_texts, settings.max_new_tokens)
    service = Service(Pipeline(client, templates, limits), templates, settings)
    app = create_app(service, on_close=client.aclose)
    return mount_pages(app, create_blocks(service), settings.language)


def take_address(host: str, port: int) -> socket.socket:
    """Bind before anything is started. Raises ``SettingsError`` when the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Browsers that come while the pages are still being built wait instead of being turned away.
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"cannot listen on {host}:{port} ({error.strerror}): end the program that uses it, "
            "or set SEQGPT_PORT or SEQGPT_HOST to another value"
        ) from error
    return listener


def serve(settings: Settings) -> None:
    """Run until a signal ends it. Raises ``SettingsError``."""
    # uvicorn raises the signal again once it has stopped; by default that would kill us before the worker is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with take_address(settings.host, settings.port) as listener, ensure_worker(settings):
        app = create_web_app(settings, WorkerClient.from_settings(settings))
        config = uvicorn.Config(
            app, log_config=None, access_log=False, timeout_graceful_shutdown=GRACE_S, log_level=settings.log_level
        )
        sys.stderr.write(f"seqgpt_ui: http://{settings.host}:{settings.port}\n")
        uvicorn.Server(config).run(sockets=[listener])


def main() -> int:
    """Start; the exit status is 1 when a setting or the address is wrong."""
    try:
        settings = load_settings()
        configure_logging("web", level=settings.log_level, form=settings.log_format)
        serve(settings)
    except SeqGPTError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
