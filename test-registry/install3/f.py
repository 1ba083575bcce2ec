"""Needs one package of install1 and one more."""
# ol-install: idna==3.7, certifi==2024.7.4

import certifi
import idna


def f(event):
    return sorted(m.__name__ for m in (certifi, idna))
