#!/usr/bin/env python3
"""Makes a frames folder, for `rigeval check`, of the arrays that `orl/` holds for one of its rigs.

  python reference/export_orl.py reference/orl/tiny.dna gui reference/orl_tiny_frames [--mesh 0]
  rigeval check reference/orl/tiny.dna --frames reference/orl_tiny_frames

OUT_DIR receives frames.json, the inputs (GUI or raw controls of 20 vectors) and the vertices of one mesh at level 0, all as they are: who computed them
stands in orl/README.md. Needs nothing but Python.
"""
import argparse, hashlib, json, pathlib, shutil

# Of the largest coordinate of a frame; every frame of these rigs is larger than 1 cm.
TOLERANCE_REL = 1e-5


def main():
    parser = argparse.ArgumentParser(description="Makes a frames folder of the arrays of a small DNA rig.")
    parser.add_argument("rig", type=pathlib.Path, help="a DNA file with its arrays beside it")
    parser.add_argument("entry", choices=["gui", "raw"], help="which controls drove it")
    parser.add_argument("out", type=pathlib.Path, help="the folder to write")
    parser.add_argument("--mesh", type=int, default=0)
    args = parser.parse_args()

    arrays, name = args.rig.parent, args.rig.stem
    given = "controls" if args.entry == "gui" else "raw"
    manifest = {
        "version": 1,
        "rig": args.rig.name,
        "rig_sha256": hashlib.sha256(args.rig.read_bytes()).hexdigest(),
        "kind": "orl",
        "units": "cm",
        "stage": "pose",
        "mesh": args.mesh,
        "lod": 0,
        "inputs": {given: f"{given}.npy"},
        "vertices": "vertices.npy",
        "oracle": {"name": "OpenRigLogic scalar, NumPy vertices", "version": "13.2.5"},
        "tolerance": {"abs": 0.0, "rel": TOLERANCE_REL},
    }
    args.out.mkdir(parents=True, exist_ok=True)
    # Their bytes alone: whatever rights the sources have, these can be written again.
    shutil.copyfile(arrays / f"{name}.in.{args.entry}.npy", args.out / f"{given}.npy")
    shutil.copyfile(arrays / f"{name}.{args.entry}.verts_mesh{args.mesh}.npy", args.out / "vertices.npy")
    (args.out / "frames.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{args.out}: {name}, {args.entry} controls, mesh {args.mesh}")


if __name__ == "__main__":
    main()
