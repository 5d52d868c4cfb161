"""Export: a fitted model as an ONNX graph, as C, or as a LIBSVM model.

>>> import numpy as np
>>> from parsimon import KNLMSRegressor
>>> from parsimon.export import to_c, to_libsvm, to_onnx
>>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
>>> model = KNLMSRegressor("gaussian", gamma=1.0).fit(X, np.sin(X[:, 0]))

A graph for ONNX Runtime and other software that reads ONNX:

>>> [output.name for output in to_onnx(model).graph.output]
['variable']

A header of plain C, for systems without Python:

>>> "double model_predict(const double x[MODEL_N_FEATURES])" in to_c(model)
True

A file for LIBSVM and software that reads its models:

>>> print("\\n".join(to_libsvm(model).splitlines()[:3]))
svm_type epsilon_svr
kernel_type rbf
gamma 1.0

Each function takes an estimator of parsimon, or a scikit-learn `Pipeline` of scalers that ends in
such an estimator. `to_onnx` and `to_c` also take a mixture, and a `TableModel` with its encoding.
With `path`, the function also writes a file, completely or not at all.

- `expansion`: a model over one dictionary as plain data, and `scaling` of its inputs;
- `combination`: several expansions and what combines them. `candidate_classifier`,
  `mixture_regressor` and `mixture_classifier` (with the combiner `pooled`) are such, and
  `mixture_parts` is common to the last two;
- `lags`: earlier targets as inputs, and targets in their own units;
- `model_functions`: the function of any model. A new mixture has a line there;
- `table`: the encoding of columns, a function, and the scaling of the target;
- `onnx`, `c` and `libsvm`: the formats.
"""

from parsimon.export.c import to_c
from parsimon.export.libsvm import to_libsvm
from parsimon.export.onnx import to_onnx

__all__ = ["to_c", "to_libsvm", "to_onnx"]
