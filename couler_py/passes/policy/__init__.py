"""Whether a workflow is as a platform team asks: the policies of the settings, checked without running anything.

`check` reads IR, `check_document` a document in Argo's words. Both look at the same facts (`pods`) by the same rules
(`rules`); every policy holds, and a workflow can't say that one doesn't.
"""

from __future__ import annotations

from couler_py.passes.policy.checking import check as check
from couler_py.passes.policy.checking import check_document as check_document
from couler_py.passes.policy.checking import check_namespace as check_namespace
