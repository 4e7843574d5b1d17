"""How the documentation site is built; `make docs` does it, and any warning fails it."""

from __future__ import annotations

import logging
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import efface
from efface import _errors, _parameters

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "efface"
author = "The efface developers"
project_copyright = author
version = release = efface.__version__
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["README.md"]

# A reference to anything that is not there is a warning.
nitpicky = True
default_role = "code"

# Docstrings are NumPy's; the types in them are words for people.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_default_options = {"exclude-members": "__init__, __new__"}
add_module_names = False
autodoc_mock_imports = ["torch"]
python_use_unqualified_type_names = True
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

# Pages with code cells are notebooks. Those of the folder `notebooks` read public data sets.
DATA = Path(os.environ.get("EFFACE_DATA") or "no folder").is_dir()
NOTEBOOKS = "notebooks/"
nb_execution_mode = "force"
nb_execution_excludepatterns = [] if DATA else [f"{NOTEBOOKS}*"]
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
# Kernels read nobody's own configuration, and neither they nor their client chat.
_ipython = tempfile.TemporaryDirectory(prefix="efface-docs-")
_profile = Path(_ipython.name, "profile_default")
_profile.mkdir()
(_profile / "ipython_kernel_config.py").write_text('c.IPKernelApp.log_level = "ERROR"\n')
os.environ["IPYTHONDIR"] = _ipython.name
logging.getLogger("traitlets").setLevel(logging.WARNING)
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "efface"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

NOT_RUN = """
:::{warning}
This build did not run the notebook: `EFFACE_DATA`, the folder of its public data set, was not set.
:::
"""
# Lists of the engine's: the page, the line that they replace, and the lines in its place.
LISTS = [
    (
        "api/errors",
        "<!-- codes -->",
        ["| code | meaning |", "|---|---|"]
        + [f"| `{code}` | {means} |" for code, means in _errors.codes().items()],
    ),
    (
        "api/options",
        "<!-- options -->",
        [
            f".. autoclass:: {kind.__name__}\n"
            for kinds in _parameters.OPTIONS.values()
            for kind in kinds.values()
        ],
    ),
]
# What a browser would fetch by itself when a page is opened.
_FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]+src\s*=\s*["'](?:https?:)?//"""
    r"""|<link(?![^>]+rel=["'](?:canonical|index|search|next|prev))[^>]+href=["'](?:https?:)?//"""
    r"""|@import\s+["'(]|url\(\s*["']?(?:https?:)?//""",
    re.IGNORECASE,
)

_BAR = re.compile(r"(``.*?``)|\|")


def _say_what_was_not_run(_: Sphinx, page: str, source: list[str]) -> None:
    if page.startswith(NOTEBOOKS) and not DATA:
        title = re.search(r"^# .*$", source[0], re.MULTILINE)
        if title is None:
            raise ValueError(f"the notebook {page} has no title")
        source[0] = source[0][: title.end()] + "\n" + NOT_RUN + source[0][title.end() :]


def _list_what_there_is(_: Sphinx, page: str, source: list[str]) -> None:
    """Write what the engine lists where a page has a place for it."""
    for at, place, lines in LISTS:
        if page == at:
            if source[0].count(place) != 1:
                raise ValueError(f"{page} needs one line `{place}`")
            source[0] = source[0].replace(place, "\n".join(lines))


def _refuse_what_is_fetched(app: Sphinx, failure: Exception | None) -> None:
    """The built pages must be whole without a network."""
    if failure is not None:
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in {".html", ".css"}:
            found = _FETCHED.search(path.read_text(encoding="utf-8"))
            if found is not None:
                raise RuntimeError(f"{path} would fetch something: {found[0]}")


def _escape_bars(
    _app: Sphinx, _what: str, name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """In formulas of the accounting `|x|` is a norm, not reStructuredText's substitution."""
    if name.startswith("efface.accounting"):
        lines[:] = [_BAR.sub(lambda found: found[1] or r"\|", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Connect what this site checks and does beside Sphinx."""
    app.connect("autodoc-process-docstring", _escape_bars, priority=100)  # before numpydoc
    app.connect("source-read", _say_what_was_not_run)
    app.connect("source-read", _list_what_there_is)
    app.connect("build-finished", _refuse_what_is_fetched)
