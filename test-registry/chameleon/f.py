"""Compiles a page template and fills a table of event["size"] rows (default 50) and
10 columns. Answers with the page's length and SHA-256, and with the page itself if
event["page"] is true."""

import hashlib

import pages

SOURCE = """<html><body><h1>${title}</h1>
<table><tr each="row in rows"><td each="cell in row"><b when="cell % 2">${cell}</b>${'' if cell % 2 else cell}</td></tr></table>
</body></html>"""


def f(event):
    rows = [[i * j for j in range(10)] for i in range(event.get("size", 50))]
    page = pages.compile_page(SOURCE)({"title": "Rows & <columns>", "rows": rows})
    if event.get("page"):
        return page
    return {"length": len(page), "sha256": hashlib.sha256(page.encode()).hexdigest()}
