"""A server of models that predict and learn at once, and lose nothing.

``parsimon serve --target price`` starts it. See docs/serving.md. What is to be learned is written
to a log before it is acknowledged. One thread per model learns the log in order, and publishes
copies of the model, which answer requests. Learning is exact, so the model after a crash equals,
bit for bit, that of a run without a crash.

- `store`: SQLite with one writer and group commit;
- `log`: entries, checkpoints and snapshots; `pending`: rows that wait for labels;
- `keys`: requests that are sent again;
- `learner`: the thread that learns; `published`: what readers see;
- `history`: errors over time; `drift`: how far a model is from its last snapshot;
- `sources`: brokers; `streams`: their messages, in the log; `messages`: what they mean;
- `intake`: messages in a transaction; `inbox`: what the store keeps of them;
- `connecting`: streams by their addresses;
- `models`: models by name; `service`: requests about rows; `rows`: rows in JSON;
- `predicting`: predictions with ids;
- `limits`: what is accepted and kept; `errors`: errors that become answers;
- `security`: who may ask; `routes`: the addresses; `shortcut`: a short way to one of them;
- `bodies`: what requests send;
- `openapi`: the description of both;
- `metrics`: numbers for Prometheus; `server`: the process.
"""

from parsimon.serving.errors import Refused, StoreFailure
from parsimon.serving.limits import Limits
from parsimon.serving.service import Service

__all__ = ["Limits", "Refused", "Service", "StoreFailure"]
