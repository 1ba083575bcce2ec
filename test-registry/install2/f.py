"""Needs two of the packages of install1, and so no further installation."""
# ol-install: parso==0.8.4, idna==3.7

import idna
import parso


def f(event):
    return sorted(m.__name__ for m in (idna, parso))
