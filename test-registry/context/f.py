"""Answers with what its context tells."""


def handle(event, context):
    return {
        "event": event,
        "function_name": context.function_name,
        "memory_limit_mb": context.memory_limit_mb,
        "request_id": context.request_id,
        "remaining_ms": context.remaining_ms(),
        "method": context.method,
    }
