"""Tell somebody how it ended: handlers after the run, by its status."""

import couler_py as couler


@couler.step
def deploy(version: str) -> str:
    return f"https://example.org/{version}"


@couler.step
def tell(status: str, address: str) -> None:
    print(f"the run {status}; deployed at {address}")


@couler.step
def clean_up() -> None:
    print("cleaning up")


@couler.step
def page_somebody(failures: list[object]) -> None:
    print(f"waking the engineer on call: {failures}")


@couler.workflow
def exit_handler(version: str = "v1"):
    address = deploy(version)
    couler.publish("address", address)
    couler.on_exit(clean_up)
    couler.on_success(lambda: tell(couler.run_info.status, couler.published("address")))
    couler.on_failure(lambda: page_somebody(couler.run_info.failures))
