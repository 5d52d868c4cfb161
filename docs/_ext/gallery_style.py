"""How the pictures of the gallery look: the same in every example, readable on light and dark."""

import matplotlib.pyplot as plt


def reset(gallery_conf, name):
    """Set the style before each example."""
    plt.rcdefaults()
    plt.rcParams.update(
        {
            "figure.constrained_layout.use": True,
            "figure.figsize": (7, 3.8),
            "font.size": 10,
            "axes.titlesize": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=plt.get_cmap("tab10").colors),
            "legend.frameon": False,
            "lines.linewidth": 1.5,
            "savefig.dpi": 110,
            "figure.facecolor": "white",
        }
    )
