"""Needs five packages of an index; answers with the modules that it found."""
# ol-install: parso==0.8.4, jedi==0.19.1, urllib3==2.2.2, idna==3.7, chardet==5.2.0
# ol-import: parso, jedi, urllib3, idna, chardet

import chardet
import idna
import jedi
import parso
import urllib3


def f(event):
    return sorted(m.__name__ for m in (chardet, idna, jedi, parso, urllib3))
