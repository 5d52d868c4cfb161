"""Batch baselines: kernel classification by L-BFGS, and the import vector machine.

Both use the Gaussian kernel k(x, z) = exp(-gamma ||x - z||^2) and one function f_c = sum_j W_jc
k(x_j, .) per class. They minimise

    R(f) = (1/n) sum_i l(f(x_i), y_i) + (alpha/2) sum_c ||f_c||^2.

Here l is the loss, and R is called the regularised risk. Both write f in an orthonormal basis of
the functions that r of the n samples, the set S, span. Let K_SS = L L' be the Cholesky
factorisation of the kernel matrix of S, and K_nS (n, r) the kernel values of all samples with S.
The samples have the coordinates Phi = K_nS L^-T, (n, r), and V (C, r) holds the functions of the C
classes. Then f(x_i) = V Phi_i and sum_c ||f_c||^2 = ||V||^2. So the penalty is well conditioned,
even if the kernel matrix is not. L is Phi at the rows S, and W = L^-T V'.
"""

from parsimon.experiments.koppel_2019.baselines.common import hinge, orthonormal, risk, smooth_loss
from parsimon.experiments.koppel_2019.baselines.import_vectors import ImportVectorMachine
from parsimon.experiments.koppel_2019.baselines.lbfgs import KernelLBFGS

__all__ = ["ImportVectorMachine", "KernelLBFGS", "hinge", "orthonormal", "risk", "smooth_loss"]
