"""How Sphinx builds the documentation: `python -m sphinx -W -b html docs docs/_build/html`."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from azumaya import __version__

project = "Azumaya"
author = "The Azumaya developers"
copyright = "2026, the Azumaya developers"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "azumaya_docs",
    "azumaya_docs.formulas",
]
exclude_patterns = ["_build", "_generated", "_data", "_ext", "images"]
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "dollarmath"]
myst_heading_anchors = 3

# The notebooks of the course run only on request: together they take minutes. Their results are
# kept in the build folder, so a later build runs only those that have changed.
nb_execution_mode = "cache" if os.environ.get("AZUMAYA_RUN_COURSE") else "off"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True

# Docstrings are written for people who read the source: `name` in them is code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
napoleon_numpy_docstring = False
# Not nitpicky: types of other packages would need their inventories, and builds need no network.
nitpicky = False

html_math_renderer = "pictures"  # of azumaya_docs.formulas; MathJax would need a network
html_theme = "furo"
html_title = f"Azumaya {release}"
html_static_path = ["_static"]
html_css_files = ["azumaya.css"]
html_copy_source = False
html_show_sphinx = False
