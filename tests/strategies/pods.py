"""Settings of containers and pods."""

from __future__ import annotations

from couler_py.ir import expr as x
from couler_py.ir.expr import TextLike
from couler_py.ir.pod import (
    ConfigMapRef,
    Container,
    Dns,
    EnvVar,
    FieldRef,
    PodSettings,
    Resources,
    Toleration,
)
from couler_py.ir.storage import SecretRef
from tests.strategies.dice import Dice, chance, pick
from tests.strategies.expressions import Known
from tests.strategies.text import printable

NO_RESOURCES = Resources()


def text_like(dice: Dice, seen: Known) -> TextLike:
    """Plain text, or text with values in it."""
    if chance(dice, 60):
        return printable(dice)
    parts: list[str | x.Expr] = []
    for _ in range(dice.number(1, 3)):
        parts.append(pick(dice, seen.plain)[0] if seen.plain and chance(dice, 50) else printable(dice))
    return x.Text(tuple(parts))


def env(dice: Dice, seen: Known) -> tuple[EnvVar, ...]:
    """Some environment variables."""
    variables = []
    for i in range(dice.number(0, 2)):
        value: TextLike | SecretRef | ConfigMapRef | FieldRef = text_like(dice, seen)
        if chance(dice, 15):
            value = pick(dice, (SecretRef("s", "key"), ConfigMapRef("c", "key"), FieldRef("status.hostIP")))
        variables.append(EnvVar(f"VAR_{i}", value))
    return tuple(variables)


def resources(dice: Dice) -> Resources:
    """What a container asks for."""
    if chance(dice, 75):
        return NO_RESOURCES
    return Resources(
        cpu=pick(dice, ("", "1", "500m", "0.5")),
        memory=pick(dice, ("", "1Gi", "512M")),
        memory_limit=pick(dice, (None, "", "2Gi")),
        gpu=dice.number(0, 1),
    )


def pod_settings(dice: Dice, seen: Known) -> PodSettings:
    """Placement and surroundings of a pod."""
    return PodSettings(
        labels=(("team", pick(dice, ("ml", "x"))),) if chance(dice, 30) else (),
        annotations=(("note", text_like(dice, seen)),) if chance(dice, 30) else (),
        node_selector=(("disk", "ssd"),) if chance(dice, 30) else (),
        tolerations=(Toleration("gpu", "Exists", effect="NoSchedule"),) if chance(dice, 30) else (),
        service_account=pick(dice, ("", "runner")),
        image_pull_secrets=("registry",) if chance(dice, 20) else (),
        dns=Dns("Default") if chance(dice, 10) else None,
        sidecars=(Container("nginx", name="web"),) if chance(dice, 10) else (),
    )
