"""Experiments: figures and tables of the papers, and of filters on signals.

Each is a module with a function ``run``.

``python -m parsimon.experiments`` runs them.

>>> from parsimon.experiments import EXPERIMENTS
>>> "honeine-2007/convergence" in EXPERIMENTS
True
"""

from __future__ import annotations

#: Modules by name. A module is imported when it is run.
EXPERIMENTS = {
    "pothin-richard-2006/time-series": "parsimon.experiments.pothin_richard_2006.time_series",
    "pothin-richard-2006/adaptive": "parsimon.experiments.pothin_richard_2006.adaptive",
    "honeine-2007/bounds": "parsimon.experiments.honeine_2007.bounds",
    "honeine-2007/convergence": "parsimon.experiments.honeine_2007.convergence",
    "koppel-2019/multidist": "parsimon.experiments.koppel_2019.multidist",
    "koppel-2019/mnist": "parsimon.experiments.koppel_2019.mnist",
    "koppel-2019/brodatz": "parsimon.experiments.koppel_2019.brodatz",
    "engel-2002/sinc": "parsimon.experiments.engel_2002.sinc",
    "engel-2002/boston": "parsimon.experiments.engel_2002.boston",
    "engel-2002/comp-activ": "parsimon.experiments.engel_2002.comp_activ",
    "engel-2002/classification": "parsimon.experiments.engel_2002.classification",
    "lee-kim-2016/usps": "parsimon.experiments.lee_kim_2016.usps",
    "signal/identification": "parsimon.experiments.signal.identification",
    "signal/equalisation": "parsimon.experiments.signal.equalisation",
    "signal/echo": "parsimon.experiments.signal.echo",
    "signal/prediction": "parsimon.experiments.signal.prediction",
}

#: Experiments with real data, whose ``run`` takes a ``data_dir``.
WITH_DATA = (
    "koppel-2019/mnist",
    "koppel-2019/brodatz",
    "engel-2002/boston",
    "engel-2002/comp-activ",
    "engel-2002/classification",
    "lee-kim-2016/usps",
)
