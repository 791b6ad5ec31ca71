"""Running what was written in Argo's words by Argo's rules, where they aren't ours.

Workflows come here through `couler_py.passes.portable` with `keep="argo"`, which marks them. What differs: values
are text, and text is filled in by tags; a failed task keeps the outputs that it left; which failure counts; an
absent output is the callee's default; what a fan-out leaves is a JSON text. Facts: workflow/controller of Argo
Workflows 4.0.7.
"""
