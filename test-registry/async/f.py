"""A coroutine function: waits event["ms"] milliseconds twice at once (default 1)
and answers with how many waits there were."""

import asyncio


async def f(event):
    pause = event.get("ms", 1) / 1000
    done = await asyncio.gather(asyncio.sleep(pause, 1), asyncio.sleep(pause, 1))
    return sum(done)
