"""The languages inside Argo's strings: tags, expressions, and the conditions of `when`. The standard library alone."""
