"""One replica of a training that others join and leave: `coming.py PORT WHO FILE`, a process of its own.

Replicas 1 and 3 begin; 5 comes while they train and leaves in its second round; 7 comes when all is over. Each is
called by what it adds to all parameters in a step.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from couler_py.steps.edit.local_sgd import LocalSGD
from couler_py.steps.edit.members import Change, Members, MembershipError, store
from couler_py.steps.edit.rounds import Round
from couler_py.steps.edit.settings import Outer, Settings
from tests.training.edit.toys import Net, by_hand

STEPS, EVERY = 10, 2
BEFORE = {3: ("asked", 1), 5: ("rounds", 1)}
"""What happens before who asks: how many have asked, or how many rounds are over."""


def replica(port: int, amount: int) -> dict[str, Any]:
    meeting = store("127.0.0.1", port)
    count, least = BEFORE.get(amount, ("asked", 0))
    while meeting.add(count, 0) < least:
        time.sleep(0.05)
    model = Net(seed=amount)
    start = Net(seed=1).layers[0].weight.detach().mean()  # the first replica's parameters are everybody's
    found: dict[str, Any] = {"steps": [], "moved": [], "digests": [], "changes": [], "made": 0}

    def watch(each: Round) -> None:
        if amount == 1:
            meeting.add("rounds", 1)
        found["steps"].append(each.steps)
        found["moved"].append(float(model.layers[0].weight.detach().mean() - start))
        whole = b"".join(parameter.detach().numpy().tobytes() for parameter in model.parameters())
        found["digests"].append(hashlib.sha256(whole).hexdigest())

    def changed(change: Change) -> None:
        found["changes"].append((change.number, change.replica, change.replicas, list(change.facts)))

    members = Members(meeting, first=2, facts=lambda: (found["made"],), changed=changed)
    settings = Settings(sync_every=EVERY, outer=Outer(0.7, 0.8))
    with LocalSGD(model, by_hand(model.parameters()), settings, watch=watch, members=members) as local:
        found["began"] = float(model.layers[0].weight.detach().mean() - start)
        came_at = local.timing.step
        while local.timing.step < STEPS and not members.gone:
            if amount == 1 and local.timing.step == 2 * EVERY:
                while meeting.add("asked", 0) < 3:  # so that it is this round after which the third one comes
                    time.sleep(0.05)
            if amount == 5 and local.timing.step == came_at + 2 * EVERY:
                members.leave()
            model(torch.zeros(1, 6))
            for parameter in model.parameters():
                parameter.grad = torch.full_like(parameter, -float(amount))
            local.optimizer.step()
            found["made"] += 1
        local.finish()
    found["gone"] = members.gone
    return found


def main() -> None:
    port, amount = int(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    found = replica(port, amount)
    if amount == 1:
        try:
            replica(port, 7)
        except MembershipError as problem:
            found["late"] = str(problem)
    Path(sys.argv[3]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
