"""Argo's documents and the IR, both ways and verbatim: what is read is written as it was."""
