"""A small template language that is compiled to Python, as page templates are.

An element with the attribute each="name in expression" is repeated, one with
when="expression" is there only if that is true, and ${expression} is replaced by
its value with the characters of HTML escaped.
"""

import html
import re

_tag = re.compile(r"<(/?)(\w+)([^>]*)>")
_each = re.compile(r'\s*each="(\w+) in ([^"]*)"')
_when = re.compile(r'\s*when="([^"]*)"')
_value = re.compile(r"\$\{([^}]*)\}")


class _Writer:
    def __init__(self):
        self.lines = ["def render(names):", "    out = []"]
        self.depth = 1

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def text(self, text):
        for i, part in enumerate(_value.split(text)):
            if i % 2:
                self.line("out.append(escape(str(%s)))" % _bound(part))
            elif part:
                self.line("out.append(%r)" % part)


def _bound(expression):
    return "eval(%r, {}, names)" % expression


def compile_page(source):
    """render(names), which returns the page as text."""
    writer, open_tags, end = _Writer(), [], 0
    for match in _tag.finditer(source):
        writer.text(source[end:match.start()])
        end = match.end()
        closing, name, attributes = match.groups()
        if closing:
            writer.text("</%s>" % name)
            writer.depth -= open_tags.pop()
        else:
            open_tags.append(_open(writer, name, attributes))
    writer.text(source[end:])
    writer.line("return ''.join(out)")
    scope = {"escape": html.escape}
    exec("\n".join(writer.lines), scope)
    return scope["render"]


def _open(writer, name, attributes):
    """Writes the beginning of an element; how many blocks it opened."""
    blocks = 0
    each, when = _each.search(attributes), _when.search(attributes)
    if each:
        writer.line("for names[%r] in %s:" % (each.group(1), _bound(each.group(2))))
        writer.depth, blocks = writer.depth + 1, blocks + 1
    if when:
        writer.line("if %s:" % _bound(when.group(1)))
        writer.depth, blocks = writer.depth + 1, blocks + 1
    writer.text("<%s%s>" % (name, _when.sub("", _each.sub("", attributes))))
    return blocks
