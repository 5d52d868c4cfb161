"""The configuration of the site. `make docs` builds it into build/docs."""

import sys
from pathlib import Path

import parsimon

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from public_names import MODULES  # noqa: E402

project = "parsimon"
author = "The parsimon developers"
copyright = author
version = release = parsimon.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    # Of this site, in _ext.
    "generated_pages",
    "linked_names",
    "mathml",
    "plain_docstrings",
    "llms",
]
exclude_patterns = ["_ext", "_templates", "examples", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
root_doc = "index"
nitpicky = True
default_role = "literal"
smartquotes = False
toc_object_entries_show_parents = "hide"
suppress_warnings = ["config.cache"]  # the gallery's order is a function

# Reference: signatures without annotations, because the text of a parameter says its type.
autosummary_generate = [f"generated/reference/{module}.rst" for module in MODULES]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_block"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r".*\.py",
    "doc_module": ("parsimon",),
    "backreferences_dir": "api/backreferences",
    "reference_url": {"parsimon": None},
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "show_signature": False,
    "reset_modules": ("gallery_style.reset",),
    "abort_on_example_error": True,
    "parallel": 2,
    "min_reported_time": 5,
    "nested_sections": True,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = f"parsimon {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False  # the pages have a link of their own in llms.txt
html_copy_source = True
html_theme_options = {
    "logo": {"text": "parsimon"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": []}
