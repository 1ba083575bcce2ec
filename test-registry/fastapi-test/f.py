"""A fastapi application: typed parameters, JSON bodies, streams, errors."""

import asyncio

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

app = FastAPI()
state = {"started": False}


@app.on_event("startup")
async def startup():
    state["started"] = True


class Item(BaseModel):
    name: str
    price: float


@app.get("/")
async def root(request: Request):
    return {"hello": "world", "started": state["started"], "root_path": request.scope["root_path"]}


@app.get("/items/{number}")
def item(number: int, q: str = ""):
    return {"number": number, "q": q}


@app.post("/items", status_code=201)
async def create(item: Item):
    return {"name": item.name, "with_tax": round(item.price * 1.2, 2)}


@app.get("/teapot")
async def teapot():
    raise HTTPException(status_code=418, detail="short and stout")


@app.get("/stream/{count}")
async def stream(count: int):
    async def lines():
        for number in range(count):
            yield "line %d\n" % number
            await asyncio.sleep(0)
    return StreamingResponse(lines(), media_type="text/plain")


@app.get("/fails")
async def fails():
    raise ValueError("in the application")
