"""
A year of bicycle rentals, hour by hour
=======================================

:py:obj:`parsimon.TableModel` learns from rows with numbers, text, dates and missing values. It
predicts each hour before it learns it, so all errors are those of unseen rows. The data ship with
parsimon.
"""

import matplotlib.pyplot as plt
import numpy as np
from pyarrow import csv

from parsimon import TableModel
from parsimon.datasets import bikes_path

table = csv.read_csv(bikes_path())
y = np.asarray(table["bikers"], dtype=float)
print(table.schema.names)

# %%
# The stream comes in blocks of a day. `learn` returns the predictions that were made before each
# row was learned.
model = TableModel("bikers")
before = []
for start in range(0, 4000, 24):
    before.append(model.learn(table.slice(start, min(24, 4000 - start))))
predicted = np.concatenate(before)
print(f"{model.n_rows_} rows, {model.n_centers_} centres")

# %%
# The relative squared error over a moving window of a week: 1 is as good as the mean.
error = np.square(predicted - y[:4000])
kernel = np.ones(168) / 168
moving = np.convolve(error, kernel, "valid") / y[:4000].var()
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5))
upper.plot(np.arange(168, 4001) / 24, moving)
upper.set(xlabel="days", ylabel="relative squared error", yscale="log")
last = slice(4000 - 168, 4000)
hours = np.arange(168) / 24
lower.plot(hours, y[last], color="0.3", label="rented")
lower.plot(hours, predicted[last], label="predicted before")
lower.set(xlabel="days of the last week", ylabel="bicycles per hour")
lower.legend(loc="upper left", ncols=2)
