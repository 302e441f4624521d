"""Make a tiny SAM 3 from random weights, laid out as the published one is: detector and tracker in one checkpoint.

It takes a box and gives masks, and they mean nothing. For tests of everything but how well it follows, on a machine
without GPU or model hub.

    python tests/servers/build_tiny_sam3.py FOLDER [--blind]
"""

import argparse
from copy import deepcopy
from pathlib import Path

import torch
from transformers import Sam3ImageProcessor, Sam3TrackerVideoProcessor, Sam3VideoConfig, Sam3VideoModel
from transformers.models.sam2_video.video_processing_sam2_video import Sam2VideoVideoProcessor

PATCH_PX, SIDE = 14, 8
PICTURE_PX = SIDE * PATCH_PX
WIDTH = 128
"""More than the 64 of the memory's features, which transformers takes for given."""
SPREAD = 0.08
"""Added to the decoder's weights: with those of a fresh model every mask is empty."""
SURE = 1e4
"""How sure it is that the thing is in a frame, or with --blind that it is not."""

HEADS = {"hidden_size": WIDTH, "num_attention_heads": 2}
LAYER = {**HEADS, "num_layers": 1, "intermediate_size": 64}
SIZE = {"height": PICTURE_PX, "width": PICTURE_PX}


def vision() -> dict[str, object]:
    """Two layers; the second looks at the whole picture."""
    backbone = {
        **HEADS,
        "model_type": "sam3_vit_model",
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "image_size": PICTURE_PX,
        "pretrain_image_size": PICTURE_PX,
        "patch_size": PATCH_PX,
        "window_size": 4,
        "global_attn_indexes": [1],
    }
    return {
        "model_type": "sam3_vision_model",
        "backbone_config": backbone,
        "fpn_hidden_size": WIDTH,
        "backbone_feature_sizes": [[scale * SIDE, scale * SIDE] for scale in (4, 2, 1)],
    }


def detector() -> dict[str, object]:
    """What finds things by words; the tracker does without it."""
    words = {
        "model_type": "clip_text_model",
        "vocab_size": 64,
        "hidden_size": WIDTH,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "projection_dim": WIDTH,
        "max_position_embeddings": 8,
        "bos_token_id": 0,
        "eos_token_id": 1,
    }
    return {
        "model_type": "sam3",
        "vision_config": vision(),
        "text_config": words,
        "geometry_encoder_config": LAYER,
        "detr_encoder_config": LAYER,
        "detr_decoder_config": {**LAYER, "num_queries": 4},
        "mask_decoder_config": HEADS,
    }


def tracker() -> dict[str, object]:
    """What follows a thing from a box."""
    return {
        "model_type": "sam3_tracker_video",
        "vision_config": vision(),
        "image_size": PICTURE_PX,
        "prompt_encoder_config": {"hidden_size": WIDTH, "image_size": PICTURE_PX, "patch_size": PATCH_PX},
        "mask_decoder_config": {**HEADS, "mlp_dim": 64, "iou_head_hidden_dim": WIDTH},
        "memory_attention_hidden_size": WIDTH,
        "memory_attention_num_layers": 1,
        "memory_attention_feed_forward_hidden_size": 64,
        "memory_attention_rope_feat_sizes": [SIDE, SIDE],
        "memory_encoder_hidden_size": WIDTH,
        "mask_downsampler_embed_dim": WIDTH,
        "memory_fuser_embed_dim": WIDTH,
        "memory_fuser_intermediate_dim": 64,
        "memory_fuser_num_layers": 1,
    }


def main() -> None:
    """Write the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--blind", action="store_true", help="a model that never sees the thing")
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Sam3VideoModel(Sam3VideoConfig(detector_config=deepcopy(detector()), tracker_config=deepcopy(tracker())))
    with torch.no_grad():
        for name, weights in model.tracker_model.named_parameters():
            if name.startswith(("mask_decoder", "no_", "memory_")):
                weights.add_(SPREAD * torch.randn_like(weights))
        model.tracker_model.mask_decoder.pred_obj_score_head.proj_out.bias.fill_(-SURE if options.blind else SURE)
    model.save_pretrained(options.folder)
    images = Sam3ImageProcessor(size=SIZE, mask_size={"height": 4 * SIDE, "width": 4 * SIDE})
    videos = Sam2VideoVideoProcessor(size=SIZE)
    Sam3TrackerVideoProcessor(image_processor=images, video_processor=videos).save_pretrained(options.folder)


if __name__ == "__main__":
    main()
