"""Takes as much of something as it can get: event["what"]."""

import array
import ctypes
import fcntl
import mmap
import os
import resource
import socket
import sys
import threading
import time

MB = 1 << 20
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
LIBC.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]


def until_refused(step, most):
    """Repeats step and returns how often it went well."""
    for n in range(most):
        try:
            step(n)
        except (OSError, RuntimeError, ValueError):
            return n
    return most


def processes():
    def fork(_):
        if os.fork() == 0:
            time.sleep(3600)
            os._exit(0)
    return until_refused(fork, 1000)


def fork_bomb():
    """Every process forks for as long as it lives."""
    end = time.monotonic() + 1
    parent = os.getpid()
    while time.monotonic() < end:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)
    if os.getpid() != parent:
        os._exit(0)
    return "survived"


def fork_storm():
    """Makes processes that end at once, as fast as it can."""
    end, n = time.monotonic() + 1, 0
    while time.monotonic() < end:
        if (pid := os.fork()) == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        n += 1
    return n


def threads():
    gate = threading.Event()
    n = until_refused(lambda _: threading.Thread(target=gate.wait, daemon=True).start(), 1000)
    gate.set()
    return n


def memory():
    held = []
    while True:
        held.append(b"x" * MB)


def shared():
    held = []
    while True:
        m = mmap.mmap(-1, MB)
        m.write(b"x" * MB)
        held.append(m)


def memfd():
    fd = os.memfd_create("m")
    while True:
        os.write(fd, b"x" * MB)


def segments():
    """System V shared memory, which stays when nobody has it mapped."""
    while True:
        segment = LIBC.shmget(0, MB, 0o1600)
        at = LIBC.shmat(segment, None, 0) if segment >= 0 else -1
        if at in (-1, 2**64 - 1):
            raise OSError(ctypes.get_errno(), "shmget")
        ctypes.memset(at, 1, MB)
        LIBC.shmdt(ctypes.c_void_p(at))


def messages():
    """System V messages that nobody receives."""
    def fill_queue(_):
        queue = LIBC.msgget(0, 0o1600)
        if queue < 0:
            raise OSError(ctypes.get_errno(), "msgget")
        message = ctypes.create_string_buffer((1).to_bytes(8, "little") + b"x" * 4096)
        while LIBC.msgsnd(queue, message, 4096, 0o4000) == 0:  # IPC_NOWAIT
            pass
    return until_refused(fill_queue, 100_000)


def page_tables():
    """Touches one page of each 2 MB: little data, many tables."""
    held = []
    while True:
        m = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            m.madvise(mmap.MADV_NOHUGEPAGE)
        held.append(m)
        for at in range(0, 1 << 30, 2 * MB):
            m[at] = 1


def locks():
    """Locks single bytes of many files: the kernel keeps each, at nobody's expense."""
    os.makedirs("/tmp/locks", exist_ok=True)
    files = [open("/tmp/locks/%d" % n, "w") for n in range(200)]
    end = time.monotonic() + 1

    def lock(n):
        if time.monotonic() > end:
            raise BlockingIOError
        fcntl.lockf(files[n % len(files)], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * n)
    return until_refused(lock, 100_000_000)


def fill(path):
    def block(n):
        with open("%s/f%d" % (path, n), "wb") as f:
            f.write(b"x" * MB)
    return until_refused(block, 4096)


def inodes(path):
    os.makedirs(path + "/many", exist_ok=True)
    return until_refused(lambda n: os.close(os.open("%s/many/%d" % (path, n), os.O_CREAT | os.O_WRONLY)), 3_000_000)


def pipes():
    held, resting = [], resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 64

    def fill_pipe(_):
        if 2 * len(held) > resting:
            raise BlockingIOError
        reader, writer = os.pipe2(os.O_NONBLOCK)
        held.append((reader, writer))
        try:
            while True:
                os.write(writer, b"x" * 65536)
        except BlockingIOError:
            pass
    return until_refused(fill_pipe, 100_000)


def descriptors():
    held = []
    n = until_refused(lambda _: held.append(os.open("/dev/null", os.O_RDONLY)), 10_000_000)
    for fd in held:
        os.close(fd)
    return n


def passed():
    """Sends descriptors to itself and closes them: they are in flight then."""
    a, b = socket.socketpair()
    a.setblocking(False)

    def send(_):
        fd = os.open("/dev/null", os.O_RDONLY)
        try:
            a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd] * 200))])
        finally:
            os.close(fd)
    return until_refused(send, 1_000_000)


def sockets():
    held, resting = [], resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 64

    def pair(_):
        if 2 * len(held) > resting:
            raise BlockingIOError
        a, b = socket.socketpair()
        a.setblocking(False)
        held.append((a, b))
        try:
            while True:
                a.send(b"x" * 65536)
        except BlockingIOError:
            pass
    return until_refused(pair, 100_000)


def limits():
    """Raises its own limits."""
    return until_refused(lambda _: resource.setrlimit(resource.RLIMIT_NOFILE, (10_000_000, 10_000_000)), 1)


def cpu():
    end = time.monotonic() + 1
    while time.monotonic() < end:
        pass
    return "done"


def hog():
    """Every process that it may have spins."""
    children = []

    def fork(_):
        if (pid := os.fork()) == 0:
            try:
                cpu()
            finally:
                os._exit(0)
        children.append(pid)
    n = until_refused(fork, 1000)
    for pid in children:
        os.waitpid(pid, 0)
    return n


def reads():
    """Reads more files than its memory holds pages of: the base image's."""
    end, n = time.monotonic() + 1, 0
    for folder, _, names in os.walk("/usr"):
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as f:
                    while block := f.read(MB):
                        n += len(block)
            except OSError:
                pass
            if time.monotonic() > end:
                return n // MB
    return n // MB


def maps():
    """Writes files through mappings, in all of its scratch space, over and over."""
    end, n = time.monotonic() + 1, 0
    with open("/tmp/mapped", "w+b") as f:
        f.truncate(32 * MB)
        with mmap.mmap(f.fileno(), 32 * MB) as m:
            while time.monotonic() < end:
                for at in range(0, 32 * MB, mmap.PAGESIZE):
                    m[at] = n & 255
                n += 1
                m.madvise(mmap.MADV_REMOVE)
    return n


def output():
    for _ in range(32):
        sys.stdout.write("x" * MB + "\n")
    sys.stdout.flush()
    return "printed"


def endless():
    while True:
        yield "x" * 65536


def stuck():
    signalless = threading.Event()
    while True:
        try:
            signalless.wait()
        except BaseException:
            pass


WAYS = {
    "processes": processes, "fork bomb": fork_bomb, "fork storm": fork_storm, "threads": threads, "memory": memory, "shared memory": shared, "memfd": memfd,
    "shared segments": segments, "messages": messages, "page tables": page_tables, "locks": locks,
    "disk in /tmp": lambda: fill("/tmp"), "disk in /host": lambda: fill("/host"), "disk in /dev/shm": lambda: fill("/dev/shm"),
    "inodes in /tmp": lambda: inodes("/tmp"), "inodes in /host": lambda: inodes("/host"), "inodes in /dev/shm": lambda: inodes("/dev/shm"),
    "pipes": pipes, "descriptors": descriptors, "descriptors in flight": passed, "socket buffers": sockets, "limits": limits,
    "cpu": cpu, "hog": hog, "reads": reads, "maps": maps, "output": output, "huge answer": lambda: b"x" * (30 * MB), "endless answer": endless, "stuck": stuck,
}


def f(event):
    return WAYS[event["what"]]()
