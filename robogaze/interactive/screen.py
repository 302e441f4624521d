"""The pictures of replies, as models and reports show them."""

from collections.abc import Sequence
from hashlib import sha256

from robogaze.core.pictures import FrameImage, Picture
from robogaze.errors import VideoError
from robogaze.interactive.environments.base import EnvironmentFault
from robogaze.interactive.play_client import PlayClient

VIEW = "screen"


def screen_images(step: int, pictures: Sequence[bytes], client: PlayClient) -> dict[int, FrameImage]:
    """The first picture of a reply as JPEG, keyed by the step of the reply. Empty if the reply has no picture.

    Raises EnvironmentFault (invalid_reply) if the picture cannot be read.
    """
    if not pictures:
        return {}
    # Most environments have no picture, and the library for pictures takes long to load.
    from robogaze.media.compose import encode_jpeg, fit
    from robogaze.media.picture_files import decode_picture

    settings = client.models.config.pictures
    try:
        image = decode_picture(pictures[0], f"the picture of step {step}")
    except VideoError as error:
        raise EnvironmentFault(str(error), "invalid_reply") from error
    image = fit(image, settings.max_side_px)
    jpeg = encode_jpeg(image, settings.quality)
    height, width = image.shape[:2]
    picture = Picture(
        id=f"step-{step}", frames=(step,), times_s=(float(step),), views=(VIEW,),
        width=width, height=height, sha256=sha256(jpeg).hexdigest(),
    )  # fmt: skip
    return {step: FrameImage(picture=picture, label=f"the screen after step {step}", content=jpeg)}
