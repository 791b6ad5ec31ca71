"""Report pages: everything escaped, nothing that runs, nothing from elsewhere."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.report import cards, page, plots
from couler_py.report.page import Section
from tests.unit.report.reading import HOSTILE, Tags


def everything(text: str) -> str:
    return page(
        text,
        [
            Section(text, (cards.Text(text, text), cards.Table((text,), ((text,),), text))),
            cards.Plot(text, plots.bar({text: 1.0}, title=text)),
            cards.Image(text, b"\x89PNG\r\n\x1a\n"),
            cards.Html(text, text),
        ],
        facts={text: text},
        status="Failed",
    )


def test_hostile_text_stays_text() -> None:
    tags = Tags(everything(HOSTILE))
    assert tags.of("script") == []
    assert len(tags.of("img")) == 2
    assert HOSTILE in tags.text
    assert "49" not in tags.text


@given(st.text())
def test_no_text_adds_an_element_or_an_attribute(text: str) -> None:
    plain = [(name, set(attributes)) for name, attributes in Tags(everything("x")).found]
    assert [(name, set(attributes)) for name, attributes in Tags(everything(text)).found] == plain or not text


def test_the_policy_allows_no_script_and_no_request() -> None:
    (policy,) = [meta["content"] for meta in Tags(everything("x")).of("meta") if "http-equiv" in meta]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "img-src data:;" in policy


def test_plots_are_images_and_never_part_of_the_page() -> None:
    svg = plots.bar({"a": 1.0})
    html = page("t", [cards.Plot("p", svg)])
    assert "<svg" not in html
    (image,) = Tags(html).of("img")
    assert image["src"] == "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def test_html_of_others_is_in_a_sandbox_without_scripts() -> None:
    (frame,) = Tags(page("t", [cards.Html("theirs", "<script>alert(1)</script>")])).of("iframe")
    assert frame["sandbox"] == ""
    assert frame["srcdoc"] == "<script>alert(1)</script>"


def test_a_media_type_that_is_no_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="'text/html' is not a media type of pictures"):
        page("t", [cards.Image("x", b"", "text/html")])


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
        (b"  <svg/>", "image/svg+xml"),
        (b"<html><svg/></html>", None),
        (b"plain", None),
    ],
)
def test_pictures_are_known_by_their_first_bytes(content: bytes, media_type: str | None) -> None:
    assert cards.image_type(content) == media_type


def test_a_file_that_is_no_picture_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_text("not a picture")
    with pytest.raises(ValueError, match=r"x\.png is neither PNG, JPEG, GIF, WebP nor SVG"):
        cards.Image.read(tmp_path / "x.png")


def test_a_table_of_mappings_has_their_keys_as_columns() -> None:
    table = cards.Table.of([{"a": 1}, {"b": 2, "a": 3}])
    assert (table.columns, table.rows) == (("a", "b"), ((1, ""), (3, 2)))
