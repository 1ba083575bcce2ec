"""Unit tests of the runtime: python3 -m unittest discover -s tests -t . """
