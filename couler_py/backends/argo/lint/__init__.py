"""The offline linter: what the API server and the controller would refuse, refused here, at its line."""
