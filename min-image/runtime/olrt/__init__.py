"""The runtime that runs inside a sandbox: it loads a lambda and serves it
over HTTP/1.1 on a unix-domain socket.

Only the standard library is imported, and all of it before the lambda's
directory is on the module search path, so no file name of a lambda can take
the place of a module that the runtime needs.

Modules: http1 (messages), server (connections, dispatch), interrupt (client
gone), output (what lambdas print), faults (what went wrong), loader (from a
directory to an app), apps (event functions), wsgi, origin (who asks), aio and
asgi (imported for coroutines only), warm (before a fork), boot (all of it, in
order).
In SOCK sandboxes: zygote (forks them), branch (zygotes below it), child (a sandbox's first process up to
serving), jail (mounts and privileges), wire (messages to the worker), selfkill
and rehearsal; installer (runs pip) and agreement (of packages) are programs.
"""
