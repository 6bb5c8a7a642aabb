"""Small checkpoints in the layout of the hub: a BLOOM-like tokenizer and random weights, made where they are needed."""

from __future__ import annotations

import functools
import json
from pathlib import Path

CORPUS = (
    "输入: 快递还没到，我要投诉你们的服务\n分类: 投诉，投诉建议，咨询，表扬\n输出: ",
    "输入: 张三和李四在北京大学工作，张三说好。\n抽取: 人名，地名，机构名\n输出: ",
    "人名: 张三\t李四\n地名: 北京\n机构名: 北京大学\n人名: None\n",
    "The quick brown fox jumps over the lazy dog. person: John Smith\nlocation: None\n",
    "What is the weather in New York (USA)? Price: 3.50, thanks!",
    "正面 负面 中性 财经 体育 科技 合同金额 签订日期",
)


@functools.cache
def tokenizer_json(*, with_gen: bool = True, vocab_size: int = 512) -> str:
    """A trained tokenizer of BLOOM's structure as its JSON text."""
    from training.tokenizer import train_tokenizer

    return str(train_tokenizer(CORPUS * 4, vocab_size, with_gen=with_gen).to_str())


def write_checkpoint(folder: Path, *, with_gen: bool = True, layout: str = "bin", seed: int = 0) -> Path:
    """Write a checkpoint like the hub's: fp16 ``pytorch_model.bin`` with keys without prefix, or safetensors."""
    import torch
    from tokenizers import Tokenizer
    from transformers import BloomConfig, BloomForCausalLM

    from training.tokenizer import save_tokenizer

    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(Tokenizer.from_str(tokenizer_json(with_gen=with_gen)), folder, with_gen=with_gen)
    torch.manual_seed(seed)
    config = BloomConfig(
        vocab_size=512, hidden_size=64, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2, pad_token_id=3
    )
    model = BloomForCausalLM(config)
    for parameter in model.parameters():  # far from uniform, so that answers differ
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    model.half()
    if layout == "safetensors":
        model.save_pretrained(folder)
        return folder
    state = {name.removeprefix("transformer."): value for name, value in model.state_dict().items()}
    state.pop("lm_head.weight", None)
    torch.save(state, folder / "pytorch_model.bin")
    (folder / "config.json").write_text(json.dumps(config.to_dict() | {"architectures": ["BloomForCausalLM"]}))
    return folder
