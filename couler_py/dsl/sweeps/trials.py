"""The template of a trial: that of the step, with the watch of `trial.py` around its function."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from msgspec.structs import replace

from couler_py.dsl.capture import FunctionSource
from couler_py.dsl.step import StepFunction
from couler_py.dsl.sweeps.trial import couler_trial
from couler_py.ir.model import Function, Inputs, OutputParameter, Outputs, Parameter, Piece, Template
from couler_py.ir.sweep import Plan
from couler_py.ir.types import ANY

CUTOFFS = "sweep_cutoffs"


def trial_template(step: StepFunction[..., Any], template: Template, plan: Plan) -> Template:
    """The step as a trial: it takes `sweep_cutoffs` besides, and its one output is how the trial ended."""
    body = template.body
    assert isinstance(body, Function)
    metrics = [{"name": each.name, "goal": each.goal, "origin": each.origin} for each in plan.metrics]
    function = f"{body.name}_as_trial"
    arguments = f"{body.name}, {metrics!r}, {list(plan.rungs)!r}, {plan.curve}"
    assert isinstance(couler_trial, FunctionType)
    watch = FunctionSource(couler_trial, step.name, None).capture().pieces
    call = Piece(f"{function} = couler_trial({arguments})")
    pieces = (*body.pieces, *(piece for piece in watch if piece not in body.pieces), call)
    return replace(
        template,
        name=f"{template.name}-trial",
        body=replace(body, name=function, pieces=pieces, returns="one"),
        inputs=Inputs((*template.inputs.parameters, Parameter(CUTOFFS, ANY)), template.inputs.artifacts),
        outputs=Outputs((OutputParameter("result", ANY),)),
    )
