// The page around the viewer: elements, events and fetches. What is computed, the module computes.

import init, { Viewer } from "./rigeval_web.js";

const $ = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en");

/** How each rig of the switch comes to be shown; `own` joins with the first file that opens. */
const rigs = {
  gltf: (viewer) => viewer.openSample("gltf"),
  gnm: async (viewer) => viewer.open("gnm_sample.aosrig", await fetchBytes("gnm_sample.aosrig")),
  orl: (viewer) => viewer.openSample("orl"),
};

/** A group of sliders: its title, and how the names of its shapes begin. */
const GROUPS = [
  ["Eyelids", /^eye(?!Look)/],
  ["Gaze", /^eyeLook/],
  ["Brows", /^brow/],
  ["Jaw", /^jaw/],
  ["Mouth", /^mouth/],
  ["Cheeks, nose, tongue", /^(?=cheek|nose|tongue)/],
];

async function fetchBytes(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: expected the file, got ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

function showError(error) {
  $("error-text").textContent = error?.message ?? String(error);
  $("error").hidden = false;
}

/** Says why there is nothing to see, in place of the head. */
function giveUp(reason) {
  $("unsupported-reason").textContent = reason;
  $("unsupported").hidden = false;
  $("canvas").hidden = true;
  $("readout").hidden = true;
  for (const element of document.querySelectorAll("aside input, aside button")) element.disabled = true;
  document.body.dataset.state = "unsupported";
}

/** The name of what the browser draws with, or nothing where it has no WebGPU. */
async function adapterName() {
  if (!navigator.gpu) {
    giveUp(
      window.isSecureContext
        ? "This browser does not have it, or it is switched off."
        : "Browsers offer it to pages from https:// or localhost only, and this one comes from elsewhere.",
    );
    return undefined;
  }
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) {
    giveUp("This browser has it, but found no graphics adapter that it may use.");
    return undefined;
  }
  const { description, vendor, architecture } = adapter.info;
  return description || [vendor, architecture].filter(Boolean).join(" ") || "not named";
}

/** Makes a slider per shape and gives back the inputs, by shape. */
function makeSliders(shapes, onInput) {
  const inputs = new Array(shapes.length);
  for (const [title, pattern] of GROUPS) {
    const group = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = title;
    group.append(legend);
    for (const [shape, name] of shapes.entries()) {
      if (!pattern.test(name)) continue;
      const row = document.createElement("div");
      row.className = "slider";
      const input = document.createElement("input");
      Object.assign(input, { type: "range", min: 0, max: 1, step: 0.01, value: 0, id: name, name });
      input.addEventListener("input", () => onInput(shape, input.valueAsNumber));
      const label = document.createElement("label");
      label.htmlFor = name;
      label.textContent = words(name.replace(pattern, ""));
      label.title = name;
      const output = document.createElement("output");
      output.htmlFor.add(name);
      row.append(label, input, output);
      group.append(row);
      inputs[shape] = input;
    }
    $("sliders").append(group);
  }
  return inputs;
}

/** `MouthUpperUpLeft` -> `Mouth upper up left`. */
function words(name) {
  const lower = name.replace(/(?<!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}

function showWeights(inputs, weights) {
  for (const [shape, weight] of weights.entries()) {
    const text = weight.toFixed(2);
    const output = inputs[shape].parentElement.lastElementChild;
    if (output.value !== text) {
      output.value = text;
      inputs[shape].value = weight;
    }
  }
}

/** Lets the browser paint what was changed so far. */
function painted() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

function start(viewer, adapter) {
  const canvas = $("canvas");
  const inputs = makeSliders(Viewer.shapes(), (shape, weight) => viewer.setWeight(shape, weight));
  let shown;
  $("adapter").textContent = adapter;

  /** Shows a rig in place of the one that is there, and says whether it did; if not, that one stays. */
  async function show(rig, open) {
    $("status").textContent = "Opening…";
    await painted(); // opening a file blocks
    let isOpen = true;
    try {
      await open(viewer);
      shown = rig;
      if (document.body.dataset.state !== "stopped") $("error").hidden = true;
    } catch (error) {
      showError(error);
      isOpen = false;
    }
    $("status").textContent = "";
    for (const input of document.querySelectorAll("#rigs input")) input.checked = input.value === shown;
    if (isOpen) describe();
    return isOpen;
  }

  /** What of the page depends on the rig. */
  function describe() {
    $("vertices").textContent = count.format(viewer.vertices);
    $("controls").textContent = count.format(viewer.controlCount);
    const drives = viewer.drives();
    for (const [shape, input] of inputs.entries()) {
      input.disabled = !drives[shape];
      input.parentElement.classList.toggle("idle", !drives[shape]);
      input.parentElement.title = drives[shape] ? "" : "Moves nothing on this rig";
    }
    $("faceless").hidden = drives.some(Boolean);
    document.body.dataset.rig = viewer.rig;
  }

  async function openFile(file) {
    if (!file) return;
    const open = async () => viewer.open(file.name, new Uint8Array(await file.arrayBuffer()));
    if (await show("own", open)) {
      rigs.own = open;
      $("own-name").textContent = file.name;
      $("own-rig").hidden = false;
    }
  }

  for (const input of document.querySelectorAll("#rigs input")) {
    input.addEventListener("change", () => show(input.value, rigs[input.value]));
  }
  $("play").addEventListener("click", () => (viewer.playing = !viewer.playing));
  $("reset").addEventListener("click", () => viewer.reset());
  $("error-close").addEventListener("click", () => ($("error").hidden = true));
  $("file").addEventListener("change", async ({ target }) => {
    await openFile(target.files[0]);
    target.value = ""; // the same file may be chosen again
  });
  listenForDrops(openFile);
  listenOnCanvas(canvas, viewer);

  const resize = () => viewer.resize(canvas.clientWidth, canvas.clientHeight, window.devicePixelRatio);
  new ResizeObserver(resize).observe(canvas);
  window.addEventListener("resize", resize); // a change of devicePixelRatio alone
  resize();

  let toldMs = 0;
  function frame(nowMs) {
    try {
      const isDrawn = viewer.frame(nowMs);
      const fault = viewer.fault();
      if (fault) throw new Error(fault);
      if (isDrawn) {
        showWeights(inputs, viewer.weights());
        document.body.dataset.state = "shown";
      }
      $("play").textContent = viewer.playing ? "Pause" : "Play";
      $("play").setAttribute("aria-pressed", viewer.playing);
      if (nowMs - toldMs > 250 && viewer.frameMs > 0) {
        toldMs = nowMs;
        $("frame-ms").textContent = `${viewer.frameMs.toFixed(1)} ms`;
      }
    } catch (error) {
      showError(error);
      document.body.dataset.state = "stopped";
      return;
    }
    requestAnimationFrame(frame);
  }

  // For the console and for the test of this page.
  globalThis.rigeval = { viewer };
  return show("gltf", rigs.gltf).then(() => requestAnimationFrame(frame));
}

function listenForDrops(openFile) {
  const isFile = (event) => event.dataTransfer?.types.includes("Files");
  window.addEventListener("dragover", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  window.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  window.addEventListener("drop", (event) => {
    document.body.classList.remove("dragging");
    if (!isFile(event)) return;
    event.preventDefault();
    openFile(event.dataTransfer.files[0]);
  });
}

function listenOnCanvas(canvas, viewer) {
  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) viewer.drag(event.movementX, event.movementY);
    else viewer.lookAtPixel(event.offsetX, event.offsetY);
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      viewer.zoom(Math.sign(event.deltaY));
    },
    { passive: false },
  );
  // To the left and up, on the screen; the head turns that way as if it was dragged.
  const arrows = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const arrow = arrows[event.key];
    if (arrow && event.shiftKey) viewer.turnGaze(-4 * arrow[0], -4 * arrow[1]);
    else if (arrow) viewer.orbit(6 * arrow[0], -6 * arrow[1]);
    else if (event.key === "+" || event.key === "=") viewer.zoom(-1);
    else if (event.key === "-") viewer.zoom(1);
    else if (event.key === " ") viewer.playing = !viewer.playing;
    else if (event.key === "Home") viewer.reset();
    else return;
    event.preventDefault();
  });
}

try {
  const adapter = await adapterName();
  if (adapter !== undefined) {
    await init();
    start(await Viewer.start($("canvas")), adapter);
  }
} catch (error) {
  giveUp(error?.message ?? String(error));
}
