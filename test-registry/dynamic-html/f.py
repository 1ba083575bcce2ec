"""Renders a page with jinja2 that lists event["size"] numbers (default 100) for
event["username"] (default "nobody"), and answers with it as HTML."""

from jinja2 import Environment

PAGE = Environment(autoescape=True).from_string("""<!DOCTYPE html>
<title>{{ name }}</title>
<p>Welcome, {{ name }}!
<ol>{% for number in numbers %}
<li>{{ number }}{% endfor %}
</ol>
""")


def f(event):
    numbers = [number * number for number in range(event.get("size", 100))]
    page = PAGE.render(name=event.get("username", "nobody"), numbers=numbers)
    return 200, {"Content-Type": "text/html; charset=utf-8"}, page
