"""One file a command. Each defines `command`, a function of typer, or `app` where it has commands of its own."""
