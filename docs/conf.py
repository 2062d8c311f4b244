"""Sphinx builds the site from these pages: ``make site``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import pycu2c  # noqa: E402

project = "pycu2c"
copyright = "pycu2c contributors"
version = release = pycu2c.__version__

extensions = [
    "extensions.mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.graphviz",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["extensions", "generators"]
nitpicky = False

# ---- Markdown

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
suppress_warnings = [
    "myst.header",  # pages of errors begin at the third level
    "ref.python",  # an attribute may have the name of a function, such as device
]
smartquotes = False  # -- begins an option
highlight_language = "python"

# ---- docstrings

autodoc_typehints = "none"  # numpydoc's sections have the types
autodoc_member_order = "bysource"
autosummary_generate = False
autodoc_mock_imports = ["dask", "distributed", "jax", "torch"]
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "py:obj"
if os.environ.get("INTERSPHINX") == "1":  # needs a network
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
    }

# ---- gallery: the pictures are made by the CPU

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "extensions.gallery_order.position",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 10,
    "copyfile_regex": "",
    "capture_repr": ("_repr_html_",),
}

# ---- HTML

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_favicon = "static/favicon.svg"
html_math_renderer = "mathml"
graphviz_output_format = "svg"
html_title = "pycu2c"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 5,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def write_intrinsics(app: Sphinx) -> None:
    """Write the pages of intrinsics, which are not in the repository."""
    from generators import intrinsics

    folder = HERE / "reference" / "intrinsics"
    for name, text in intrinsics.pages():
        page = folder / name
        if not page.exists() or page.read_text() != text:
            page.write_text(text)


def write_benchmarks(app: Sphinx) -> None:
    """Write the page of benchmarks, from the results in the repository."""
    from generators import benchmarks

    benchmarks.write()


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_intrinsics)
    app.connect("builder-inited", write_benchmarks)
