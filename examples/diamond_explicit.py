"""The same diamond with edges named by hand, in Couler's own verbs.

couler run examples/diamond_explicit.py
"""

import couler_py.argo as couler


def job(name):
    couler.run_container(image="alpine:3", command=["echo"], args=[name], step_name=name)


couler.dag(
    [
        [lambda: job("A")],
        [lambda: job("A"), lambda: job("B")],
        [lambda: job("A"), lambda: job("C")],
        [lambda: job("B"), lambda: job("D")],
        [lambda: job("C"), lambda: job("D")],
    ]
)
couler.run()
