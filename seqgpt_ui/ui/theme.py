"""Colours, sizes and fonts of the pages: system fonts only, one accent, calm in light and dark."""

from __future__ import annotations

import gradio as gr

FONTS = ("ui-sans-serif", "system-ui", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "sans-serif")
MONO_FONTS = ("ui-monospace", "SFMono-Regular", "Consolas", "Noto Sans Mono CJK SC", "monospace")


def create_theme() -> gr.themes.Base:
    """The theme of all pages."""
    theme = gr.themes.Base(
        primary_hue=gr.themes.colors.teal,
        secondary_hue=gr.themes.colors.teal,
        neutral_hue=gr.themes.colors.slate,
        text_size=gr.themes.sizes.text_md,
        spacing_size=gr.themes.sizes.spacing_md,
        radius_size=gr.themes.sizes.radius_lg,
        font=[gr.themes.Font(name) for name in FONTS],
        font_mono=[gr.themes.Font(name) for name in MONO_FONTS],
    )
    return theme.set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        block_background_fill="white",
        block_background_fill_dark="*neutral_900",
        block_border_width="1px",
        block_border_color="*neutral_200",
        block_border_color_dark="*neutral_800",
        block_label_text_color="*neutral_600",
        block_label_text_color_dark="*neutral_300",
        block_title_text_color="*neutral_700",
        block_title_text_color_dark="*neutral_200",
        block_info_text_color="*neutral_500",
        block_info_text_color_dark="*neutral_400",
        body_text_color_subdued="*neutral_500",
        body_text_color_subdued_dark="*neutral_400",
        input_background_fill="*neutral_50",
        input_background_fill_dark="*neutral_950",
        input_border_width="1px",
        input_border_color="*neutral_200",
        input_border_color_dark="*neutral_700",
        input_border_color_focus="*primary_500",
        input_border_color_focus_dark="*primary_500",
        block_title_text_weight="600",
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_600",
        button_primary_background_fill_dark="*primary_700",
        button_primary_background_fill_hover_dark="*primary_600",
        button_primary_text_color="white",
    )
