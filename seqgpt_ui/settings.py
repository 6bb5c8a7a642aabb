"""All settings of all processes: one frozen object, read once from ``SEQGPT_*``.

The fields of ``Settings`` are the one table: parsing, ``docs/settings.md`` and its test all come from it. No other
module reads the environment.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from seqgpt_ui.errors import SettingsError
from seqgpt_ui.settings_rows import PREFIX, check_names, document, env_name, parse, setting, write

PROJECT_ROOT = Path(__file__).resolve().parents[1]
# The kernel keeps a socket's path in 108 bytes, the closing zero included.
MAX_SOCKET_PATH_BYTES = 107


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its default. Relative paths count from the project's folder.

    Raises ``SettingsError`` where a value given to the constructor cannot work.
    """

    checkpoint: str = setting(
        "auto",
        "worker",
        "A folder, a hub id that is already on this disk, or `auto`: a local SeqGPT-560M, else the demo model",
        "模型目录、已在本机的模型 ID，或 `auto`：优先本机 SeqGPT-560M，否则用演示模型",
    )
    models_dir: Path = setting(
        Path("models"),
        "all",
        "Where checkpoints lie and where `download` puts them",
        "模型所在目录，也是 `download` 的下载位置",
    )
    templates_dir: Path = setting(Path("templates"), "web", "The library of task templates", "任务模板目录")
    data_dir: Path = setting(Path("data"), "all", "Everything that is written while running", "运行时写入的全部数据")
    socket: Path | None = setting(
        None,
        "all",
        "The worker's unix socket; by default `run/worker.sock` in the data folder",
        "推理进程的 unix 套接字，默认在数据目录的 `run/worker.sock`",
    )
    worker_host: str = setting(
        "", "all", "Let the worker listen on this address instead of the socket", "推理进程改为监听该地址（不用套接字）"
    )
    worker_port: int = setting(
        0,
        "all",
        "The TCP port that goes with `SEQGPT_WORKER_HOST`",
        "与 `SEQGPT_WORKER_HOST` 配套的端口",
        bounds=(0, 65535),
    )
    worker_urls: tuple[str, ...] = setting(
        (),
        "web",
        "Workers elsewhere, a comma between their addresses; none is started here then",
        "其他机器上的推理进程地址，用逗号分隔；此时本机不再启动",
    )
    backend: str = setting(
        "auto",
        "worker",
        "What runs the weights; `fake` answers without any",
        "推理后端；`fake` 不需要权重",
        choices=("auto", "reference", "fake"),
    )
    device: str = setting(
        "auto",
        "worker",
        "`auto` takes the first CUDA device, else the CPU",
        "`auto`：有 CUDA 用第一块显卡，否则用 CPU",
        pattern=r"auto|cpu|cuda(:[0-9]+)?",
    )
    dtype: str = setting(
        "auto",
        "worker",
        "Precision of the weights; `auto` is float16 on CUDA and what the CPU is fast at elsewhere",
        "权重精度；`auto`：CUDA 用 float16，CPU 用其擅长的精度",
        choices=("auto", "float32", "bfloat16", "float16"),
    )
    quantization: str = setting(
        "none",
        "worker",
        "Smaller weights through bitsandbytes",
        "用 bitsandbytes 压缩权重",
        choices=("none", "int8", "nf4"),
    )
    threads: int = setting(
        0,
        "worker",
        "CPU threads of the model; 0 leaves it to the library",
        "模型使用的 CPU 线程数；0 为自动",
        bounds=(0, 1024),
    )
    max_concurrency: int = setting(
        2,
        "worker",
        "Requests that take turns at the model; further ones wait",
        "同时轮流使用模型的请求数，其余排队",
        bounds=(1, 1024),
    )
    max_queue: int = setting(
        64,
        "worker",
        "Requests that may wait; beyond it callers get 429 and Retry-After",
        "允许排队的请求数；超出则返回 429 和 Retry-After",
        bounds=(0, 100_000),
    )
    drain_s: float = setting(
        20.0,
        "worker",
        "Seconds that running work gets to finish when the worker stops",
        "停止时留给正在运行的任务的秒数",
        bounds=(0, 600),
    )
    deadline_s: float = setting(
        60.0,
        "web",
        "Seconds that a request may take, waiting included",
        "每个请求的总时限（秒，含排队）",
        bounds=(0.1, 3600),
    )
    host: str = setting(
        "127.0.0.1",
        "web",
        "Address of page and API; `0.0.0.0` lets other machines in",
        "页面和接口的监听地址；`0.0.0.0` 允许其他机器访问",
    )
    port: int = setting(7860, "web", "Port of page and API", "页面和接口的端口", bounds=(1, 65535))
    children: bool = setting(
        True,
        "web",
        "Whether `python app.py` starts the worker it needs; never under supervisord",
        "`python app.py` 是否自动启动推理进程；由 supervisord 管理时不启动",
    )
    language: str = setting(
        "auto",
        "web",
        "Language of the page; `auto` follows the browser",
        "页面语言；`auto` 跟随浏览器",
        choices=("auto", "zh", "en"),
    )
    max_text_chars: int = setting(
        100_000, "web", "Longest text, in characters", "单条文本最大字符数", bounds=(1, 100_000_000)
    )
    max_labels: int = setting(
        500, "web", "Most labels or fields of one request", "单个请求的最大标签数", bounds=(1, 2000)
    )
    max_texts: int = setting(256, "web", "Most texts of one request", "单个请求的最大文本数", bounds=(1, 100_000))
    max_body_bytes: int = setting(
        8_000_000, "all", "Largest body of a request, in bytes", "请求体最大字节数", bounds=(1000, 10**10)
    )
    max_new_tokens: int = setting(256, "all", "Most tokens of one answer", "单个回答的最大 token 数", bounds=(1, 1024))
    log_level: str = setting(
        "info",
        "all",
        "How much is logged; texts never are",
        "日志级别；日志从不包含文本内容",
        choices=("debug", "info", "warning", "error"),
    )
    log_format: str = setting(
        "json",
        "all",
        "JSON lines for machines or plain text for people",
        "日志格式：JSON 或纯文本",
        choices=("json", "text"),
    )
    supervised: bool = setting(
        False, "web", "Set by supervisord for what it runs", "由 supervisord 自动设置", env="SUPERVISOR_ENABLED"
    )
    modelscope_cache: Path = setting(
        Path("~/.cache/modelscope"),
        "worker",
        "Where ModelScope keeps its downloads",
        "ModelScope 的下载缓存目录",
        env="MODELSCOPE_CACHE",
    )

    def __post_init__(self) -> None:
        for row in fields(self):
            value = getattr(self, row.name)
            if isinstance(value, Path):
                object.__setattr__(self, row.name, PROJECT_ROOT / value.expanduser())
        if bool(self.worker_host) != bool(self.worker_port):
            raise SettingsError("SEQGPT_WORKER_HOST and SEQGPT_WORKER_PORT go together: set both or neither")
        if self.socket is not None and len(os.fsencode(self.socket)) > MAX_SOCKET_PATH_BYTES:
            raise SettingsError(
                f"SEQGPT_SOCKET={self.socket} is over {MAX_SOCKET_PATH_BYTES} bytes: use a shorter path"
            )

    @property
    def socket_path(self) -> Path:
        """Where the worker listens. A data folder too deep for a socket is stood in for by the temporary folder."""
        if self.socket is not None:
            return self.socket
        wanted = self.data_dir / "run" / "worker.sock"
        if len(os.fsencode(wanted)) <= MAX_SOCKET_PATH_BYTES:
            return wanted
        digest = hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"seqgpt-{os.getuid()}-{digest}" / "worker.sock"

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Settings:
        """Read every setting; an empty value counts as not set.

        Raises ``SettingsError`` for an unknown ``SEQGPT_*`` name and for a value that cannot be read.
        """
        table = {env_name(row): row for row in fields(cls)}
        check_names(environ, table)
        return cls(**{row.name: parse(name, environ[name], row) for name, row in table.items() if environ.get(name)})


def load_settings() -> Settings:
    """The settings of this process. Raises ``SettingsError``."""
    return Settings.from_environment(os.environ)


def child_environment(settings: Settings) -> dict[str, str]:
    """This process's environment with every setting written out, so that a child means the same by them."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    rows = [row for row in fields(settings) if getattr(settings, row.name) != row.default]
    return environ | {env_name(row): write(getattr(settings, row.name)) for row in rows}


def settings_document() -> str:
    """The text of ``docs/settings.md``."""
    return document(fields(Settings))
