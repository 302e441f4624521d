"""Clips to plant in."""

from pathlib import Path

import cv2
import numpy as np

from robogaze.media.decode import Image
from robogaze.media.encode import write_video

FPS, FRAMES = 16, 56
INSTRUCTION = "Put the red cube into the bin with the left hand, then close the drawer"


def scenery(seed: int, size: tuple[int, int] = (320, 200)) -> list[Image]:
    """A grained table with three objects on it, over which an arm swings from the upper edge, to and fro."""
    rng = np.random.default_rng(seed)
    width, height = size
    grain = cv2.GaussianBlur(rng.normal(0, 30, (height, width, 1)).astype(np.float32), (0, 0), 3)[..., None]
    table = np.clip(rng.uniform(90, 150, 3) + 3 * grain, 0, 255)
    for x, colour in ((0.2, (200, 40, 40)), (0.5, (30, 60, 190)), (0.8, (230, 220, 60))):
        left, top, side = round(x * width), round(rng.uniform(0.6, 0.75) * height), round(0.11 * height)
        table[top : top + side, left - side // 2 : left + side // 2] = colour
    images = []
    for number in range(FRAMES):
        image = table.astype(np.uint8).copy()
        swing = np.sin(2 * np.pi * number / FRAMES * 1.5 + seed)
        hand = (round(width * (0.5 + 0.35 * swing)), round(height * (0.42 + 0.08 * swing)))
        cv2.line(image, (width // 2, -5), hand, (225, 225, 228), round(0.06 * height), cv2.LINE_AA)
        cv2.circle(image, hand, round(0.05 * height), (40, 40, 45), -1, cv2.LINE_AA)
        images.append(image)
    return images


def write(path: Path, images: list[Image]) -> Path:
    """Pictures as a clip."""
    write_video(path, images, [number / FPS for number in range(len(images))], len(images) / FPS)
    return path
