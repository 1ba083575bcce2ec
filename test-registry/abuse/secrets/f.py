"""Looks for a text in everything that it can read: files, environments, memory.

event: "parts" are the halves of the text, so that it is not found in the event.
"""

import os

SKIP = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/proc", "/sys", "/dev")
ENDS = ("environ", "cmdline", "maps", "mountinfo", "cgroup", "status")


def files():
    for top in os.listdir("/"):
        if "/" + top in SKIP:
            continue
        for folder, _, names in os.walk("/" + top):
            for name in names:
                yield os.path.join(folder, name)
    for pid in os.listdir("/proc"):
        if pid.isdigit() or pid == "self":
            for end in ENDS:
                yield "/proc/%s/%s" % (pid, end)


def f(event):
    secret = "".join(event["parts"])
    found, seen = [], 0
    for path in files():
        try:
            if not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                text = file.read(1 << 20)
        except OSError:
            continue
        seen += 1
        if secret.encode() in text:
            found.append(path)
    if secret in str(dict(os.environ)):
        found.append("environment")
    return {"found": " ".join(found), "looked": "enough" if seen > 10 else str(seen),
            "environment": " ".join(sorted(os.environ))}
