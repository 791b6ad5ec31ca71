"""Steps over tables: splitting, fitting and judging. `sklearn`, `xgboost`, `lightgbm` and `pytorch` are their doors."""
