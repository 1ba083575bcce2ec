"""Draws event["size"] faces (default 2), as children do, on a grey wall and finds them
with one of OpenCV's cascades.

Answers with how many it found and how many of those drawn have their middle in
exactly one box.
"""

import glob

import cv2
import numpy as np

PATTERN = "/usr/share/opencv*/haarcascades/haarcascade_frontalface_default.xml"
SPACE, RADIUS = 220, 60  # pixels


def oval(picture, middle, axes, shade):
    cv2.ellipse(picture, tuple(map(int, middle)), tuple(map(int, axes)), 0, 0, 360, shade, -1)


def draw(picture, x, y, r):
    oval(picture, (x, y), (0.78 * r, r), 190)
    cv2.ellipse(picture, (x, int(y - 0.75 * r)), (int(0.8 * r), int(0.45 * r)), 0, 180, 360, 60, -1)  # hair
    for side in (-1, 1):
        eye = x + side * 0.32 * r
        oval(picture, (eye, y - 0.18 * r), (0.2 * r, 0.12 * r), 110)
        oval(picture, (eye, y - 0.18 * r), (0.09 * r, 0.09 * r), 30)
        oval(picture, (eye, y - 0.35 * r), (0.22 * r, 0.05 * r), 60)
    oval(picture, (x, y + 0.12 * r), (0.07 * r, 0.22 * r), 215)
    oval(picture, (x, y + 0.33 * r), (0.14 * r, 0.05 * r), 120)
    oval(picture, (x, y + 0.58 * r), (0.3 * r, 0.08 * r), 85)


def wall(faces):
    columns = max(1, int(faces ** 0.5))
    rows = -(-faces // columns)
    picture = np.full((rows * SPACE, columns * SPACE), 128, np.uint8)
    middles = [((i % columns) * SPACE + SPACE // 2, (i // columns) * SPACE + SPACE // 2) for i in range(faces)]
    for x, y in middles:
        draw(picture, x, y, RADIUS)
    return cv2.GaussianBlur(picture, (0, 0), RADIUS / 20), middles


def f(event):
    cv2.setNumThreads(1)
    cascade = cv2.CascadeClassifier(glob.glob(PATTERN)[0])
    picture, middles = wall(event.get("size", 2))
    boxes = [tuple(map(int, box)) for box in cascade.detectMultiScale(picture, 1.1, 3)]
    hit = sum(sum(a < x < a + w and b < y < b + h for a, b, w, h in boxes) == 1 for x, y in middles)
    return {"found": len(boxes), "right": hit}
