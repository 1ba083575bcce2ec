"""Lets a lambda kill itself.

The kernel ignores fatal signals that the first process of a pid namespace
sends to itself. A lambda that does so expects to die, so the calls are turned
into an exit with status 128 + signal, which the worker reports as the signal.
"""

import os
import signal

_HARMLESS = frozenset(
    getattr(signal, name)
    for name in ("SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU")
    if hasattr(signal, name)
)
_UNCATCHABLE = (signal.SIGKILL,)


def install():
    """Replace os.kill and signal.raise_signal in this process."""
    kill, raise_signal = os.kill, signal.raise_signal

    def kill_checked(pid, number):
        if pid == os.getpid():
            _die_of(number)
        return kill(pid, number)

    def raise_checked(number):
        _die_of(number)
        return raise_signal(number)

    kill_checked.__name__, raise_checked.__name__ = "kill", "raise_signal"
    os.kill, signal.raise_signal = kill_checked, raise_checked


def _die_of(number):
    if os.getpid() != 1 or number == 0 or number in _HARMLESS:
        return
    if number in _UNCATCHABLE or signal.getsignal(number) == signal.SIG_DFL:
        os._exit(128 + number)
