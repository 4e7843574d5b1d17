"""Estimators on Dask collections: rows stay on the workers, and can be forgotten there.

Needs ``efface[dask]``. What is erased where, and what is not, stands with
:class:`DaskUnlearningClassifier`.
"""

from ._estimators import DaskUnlearningClassifier, DaskUnlearningRegressor
from ._reach import InProcess

__all__ = ["DaskUnlearningClassifier", "DaskUnlearningRegressor", "InProcess"]
