"""Makes a film of event["size"] frames (default 20), a white square that wanders over
black, and turns it into one in grey with edges, through files in /tmp.

Answers with the number of frames read back, the square's path as found in the
result, and the sizes of both files.
"""

import os

import cv2
import numpy as np

WIDTH, HEIGHT, SIDE, RATE = 160, 120, 20, 10
CODEC = cv2.VideoWriter_fourcc(*"MJPG")


def make(path, frames):
    film = cv2.VideoWriter(path, CODEC, RATE, (WIDTH, HEIGHT))
    for number in range(frames):
        frame = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        left = number * (WIDTH - SIDE) // max(1, frames - 1)
        frame[50:50 + SIDE, left:left + SIDE] = 255
        film.write(frame)
    film.release()


def transform(source, target):
    film = cv2.VideoCapture(source)
    out = cv2.VideoWriter(target, CODEC, RATE, (WIDTH, HEIGHT), False)
    path = []
    while True:
        more, frame = film.read()
        if not more:
            break
        grey = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
        columns = np.flatnonzero(grey[60] > 128)
        path.append([int(columns[0]), int(columns[-1])])
        out.write(cv2.Canny(grey, 100, 200))
    film.release()
    out.release()
    return path


def f(event):
    source, target = "/tmp/source.avi", "/tmp/target.avi"
    try:
        make(source, event.get("size", 20))
        path = transform(source, target)
        return {"frames": len(path), "path": path, "bytes": [os.path.getsize(source), os.path.getsize(target)]}
    finally:
        for name in (source, target):
            if os.path.exists(name):
                os.remove(name)
