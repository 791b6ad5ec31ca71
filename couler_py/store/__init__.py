"""What a machine remembers: runs, artifacts, cached outputs, secrets and locks, in one folder (`COULER_HOME`).

`home` finds the folder, `database` opens its SQLite file, `runs` reads and writes what became of runs,
`content` and `artifacts` keep files by the sha256 of their content, `cache` the outputs of steps.
"""
