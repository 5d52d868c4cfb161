"""Learning from tables: encoder, target scaler and estimator as one model.

The model needs only the name of the target.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> size, shop = rng.uniform(size=2000), rng.choice(["town", "village"], size=2000)
>>> price = 1e5 * np.where(shop == "town", np.sin(6 * size), size)
>>> model = TableModel("price")
>>> predictions = model.learn({"size": size, "shop": shop, "price": price})
>>> model.task_, bool(model.metrics_.rolling()["r2"] > 0.95)
('regression', True)
>>> bool(abs(model.predict({"size": [0.5], "shop": ["village"]})[0] - 5e4) < 1e4)
True

**The default** is a `MixtureClassifier` for classification and a `MixtureRegressor` for regression,
each with at most 2000 centres. A mixture learns several models side by
side and combines their predictions. `parsimon.mixtures.defaults` lists these models. Their kernel
widths come from the median distance of recent rows.

- `model`: the model of a table;
- `targets`: the task that a target column means, and its values as numbers or labels;
- `algorithms`: estimators by name;
- `ahead`: features of rows that are not learned yet;
- `stored`: the parts of a model in a file.
"""

from parsimon.mixtures import MixtureClassifier
from parsimon.tables.ahead import EncodedBlock as EncodedBlock
from parsimon.tables.ahead import can_encode_ahead as can_encode_ahead
from parsimon.tables.algorithms import ALGORITHMS, make_estimator
from parsimon.tables.model import TableModel
from parsimon.tables.targets import TASKS

__all__ = ["ALGORITHMS", "TASKS", "MixtureClassifier", "TableModel", "make_estimator"]
