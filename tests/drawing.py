"""How many cases hypothesis draws, for scripts that look for failures and do not shrink them."""

from hypothesis import HealthCheck, Phase, settings


def drawn(n):
    """Return settings for n cases, whatever time they take."""
    return settings(
        max_examples=n,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
