#!/usr/bin/env python3
"""Exports reference frames of a GNM head from the Python program `body-models` (NumPy backend), for `rigeval check`.

  pip install body-models==0.26.2
  python reference/export_gnm.py MODEL.npz OUT_DIR [--frames 8] [--seed 1]
  rigeval check MODEL.npz --frames OUT_DIR

OUT_DIR receives frames.json, the inputs (identity, expression, rotations, translation) and the vertices, all in metres. The inputs are f32 and
the program is given those very values, widened; it computes in f64, so the vertices are f64 and the tolerance is 1e-9 m.
"""
import argparse, hashlib, importlib.metadata, json, pathlib

import numpy as np
from body_models.gnm.numpy import GNM

TOLERANCE_M = 1e-9


def random_inputs(frames, seed):
    """The ranges of the original program's own tests; frame 0 is the template, the next three move one input each."""
    r = np.random.default_rng(seed)
    inputs = {
        "identity": r.uniform(-1, 1, (frames, 253)),
        "expression": r.uniform(-1, 1, (frames, 383)),
        "rotations": np.radians(r.uniform(-30, 30, (frames, 4, 3))),
        "translation": r.uniform(-0.01, 0.01, (frames, 3)),
    }
    inputs = {name: values.astype(np.float32) for name, values in inputs.items()}
    alone = [None, "identity", "expression", "rotations"]
    for frame, kept in enumerate(alone[:frames]):
        for name, values in inputs.items():
            if name != kept:
                values[frame] = 0
    return inputs


def evaluate(model, inputs):
    """Neck is that program's head_rotation, the other joints its head_pose; global_rotation stays unset (it turns about the world's origin)."""
    x = {name: values.astype(np.float64) for name, values in inputs.items()}
    return model.forward_vertices(
        x["rotations"][:, 1:],
        head_rotation=x["rotations"][:, 0],
        shape=x["identity"],
        expression=x["expression"],
        global_translation=x["translation"],
    )


def main():
    parser = argparse.ArgumentParser(description="Exports reference frames of a GNM head from body-models.")
    parser.add_argument("model", type=pathlib.Path, help="gnm_head.npz or a file of the same schema")
    parser.add_argument("out", type=pathlib.Path, help="the folder to write")
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    inputs = random_inputs(args.frames, args.seed)
    vertices = np.asarray(evaluate(GNM(model_path=args.model), inputs))
    assert vertices.dtype == np.float64, f"expected f64 from the program, got {vertices.dtype}"
    manifest = {
        "version": 1,
        "rig": args.model.name,
        "rig_sha256": hashlib.sha256(args.model.read_bytes()).hexdigest(),
        "kind": "gnm",
        "units": "m",
        "stage": "world",
        "inputs": {name: f"{name}.npy" for name in inputs},
        "vertices": "vertices.npy",
        "oracle": {"name": "body-models numpy", "version": importlib.metadata.version("body-models")},
        "tolerance": {"abs": TOLERANCE_M, "rel": 0},
    }
    args.out.mkdir(parents=True, exist_ok=True)
    for name, values in {**inputs, "vertices": vertices}.items():
        np.save(args.out / f"{name}.npy", values)
    (args.out / "frames.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{args.out}: {len(vertices)} frames of {vertices.shape[1]} vertices")


if __name__ == "__main__":
    main()
