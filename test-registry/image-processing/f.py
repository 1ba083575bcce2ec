"""Takes a picture of event["size"] pixels square (default 256) through what
thumbnailers do: flip, turn, grey, sharpen, shrink, and coding as PNG and JPEG.

The picture is a gradient from black (top left) to red (right) and blue (below).
Answers, for each step, with size, mode and mean brightness; and with the PNG's
length and whether it reads back as it was.
"""

import io

from PIL import Image, ImageFilter, ImageStat


def gradient(size):
    ramp = Image.linear_gradient("L").resize((size, size))
    return Image.merge("RGB", (ramp.rotate(90), Image.new("L", (size, size)), ramp))


def steps(picture):
    yield "flip", picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    yield "turn", picture.transpose(Image.Transpose.ROTATE_90)
    yield "grey", picture.convert("L")
    yield "sharpen", picture.filter(ImageFilter.SHARPEN)
    thumbnail = picture.copy()
    thumbnail.thumbnail((128, 128))
    yield "thumbnail", thumbnail


def coded(picture, kind):
    buffer = io.BytesIO()
    picture.save(buffer, kind)
    return buffer.getvalue()


def f(event):
    picture = gradient(event.get("size", 256))
    told = {}
    for name, result in steps(picture):
        told[name] = {"size": result.size, "mode": result.mode, "mean": [round(x) for x in ImageStat.Stat(result).mean]}
    png = coded(picture, "PNG")
    told["png"] = {"bytes": len(png), "same": Image.open(io.BytesIO(png)).tobytes() == picture.tobytes()}
    told["jpeg"] = {"bytes": len(coded(picture, "JPEG"))}
    return told
