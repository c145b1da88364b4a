// The page in a real Chromium, on its software WebGPU adapter: `node --test web/test/page.test.mjs` after web/build.sh.
//
// RIGEVAL_CHROMIUM   the browser [/usr/bin/chromium]
// RIGEVAL_CLI        the native command line; with it the vertices are compared with `rigeval eval` too

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { box, glb, LIFT_M, SLIDE_M, slidingBox } from "./glb.mjs";
import { f32Of, npyOf } from "./npy.mjs";
import { serve } from "./serve.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const OUT = at("out");
const PACK = at("../../packs/gnm_sample.aosrig");

/** GPU against CPU, metres: the bound of the crate's own parity tests. */
const TOLERANCE_M = 1e-6;

const FLAGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
// The canvas wants the compositor on the same Vulkan as the adapter: without that the device is lost at the first frame.
const WEBGPU = [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
  "--use-vulkan=swiftshader",
  "--use-angle=swiftshader",
  "--ignore-gpu-blocklist",
];

const launch = (flags) =>
  chromium.launch({
    executablePath: process.env.RIGEVAL_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [...FLAGS, ...flags],
  });

let server, browser, page;
const complaints = [];

/** A page that has shown its first frame; what it complains of is kept. */
async function open(options = {}) {
  const opened = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  opened.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  opened.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  await opened.goto(`http://localhost:${server.address().port}/`);
  await opened.waitForSelector('body[data-state="shown"]', { timeout: 60_000 });
  return opened;
}

before(async () => {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  server = await serve(at("../dist"), 0);
  browser = await launch(WEBGPU);
  page = await open();
});

after(async () => {
  await browser?.close();
  server?.close();
});

/** Waits until the page has drawn what was asked for so far. */
const drawn = (on = page) =>
  on.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

const text = (selector) => page.locator(selector).textContent();

/** The device's vertices in metres, and the largest difference to the CPU reference. */
async function vertices() {
  await drawn();
  const read = await page.evaluate(async () => {
    const { viewer } = globalThis.rigeval;
    const [gpu, cpu] = [await viewer.readVertices(), viewer.referenceVertices()];
    return { gpu: Array.from(gpu), cpu: Array.from(cpu), unit: viewer.unitInMetres };
  });
  assert.equal(read.gpu.length, read.cpu.length);
  assert.ok(read.gpu.length > 0 && read.gpu.every(Number.isFinite));
  const largest = read.gpu.reduce((worst, x, i) => Math.max(worst, Math.abs(x - read.cpu[i])), 0) * read.unit;
  return { metres: read.gpu.map((x) => x * read.unit), largest };
}

/** Sets a slider as a hand does. */
const slide = (shape, value) => page.locator(`#${shape}`).fill(String(value));

/** How far each vertex went, metres. */
const moved = (a, b) =>
  Array.from({ length: a.length / 3 }, (_, v) => Math.hypot(...[0, 1, 2].map((k) => a[3 * v + k] - b[3 * v + k])));

/** Drops a file on the page. */
async function drop(name, bytes) {
  const data = await page.evaluateHandle(
    ([fileName, base64]) => {
      const transfer = new DataTransfer();
      const decoded = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      transfer.items.add(new File([decoded], fileName));
      return transfer;
    },
    [name, Buffer.from(bytes).toString("base64")],
  );
  await page.dispatchEvent("#stage", "dragover", { dataTransfer: data });
  await page.dispatchEvent("#stage", "drop", { dataTransfer: data });
}

async function chooseRig(rig) {
  await page.locator(`#rigs label:has(input[value="${rig}"])`).click();
  await page.waitForSelector(`body[data-rig="${rig}"]`);
}

test("page_loads_and_says_what_it_shows", async () => {
  assert.equal(await page.getAttribute("body", "data-rig"), "gltf");
  assert.equal(await text("#vertices"), "17,821");
  assert.equal(await page.locator("#sliders input:disabled").count(), 0);
  assert.match(await text("#adapter"), /swiftshader/i);
  assert.equal(await page.locator("#sliders input[type=range]").count(), 52);
  assert.equal(await page.locator("#error").isVisible(), false);
  await page.waitForFunction(() => /^[\d.]+ ms$/.test(document.getElementById("frame-ms").textContent));
  await page.screenshot({ path: join(OUT, "page.png") });
});

test("first_frame_is_the_reference", async (t) => {
  const first = await vertices();
  assert.ok(first.largest <= TOLERANCE_M, `${first.largest} m`);
  // That one came from the CPU, which fills the buffers until something moves; the device's own is held to it too.
  await slide("jawOpen", 0.5);
  await drawn();
  await slide("jawOpen", 0);
  const { metres, largest } = await vertices();
  t.diagnostic(`the device's own: largest difference ${(largest * 1e6).toFixed(4)} um`);
  assert.ok(largest <= TOLERANCE_M, `${largest} m`);
  assert.ok(Math.max(...moved(metres, first.metres)) <= TOLERANCE_M);
});

for (const rig of ["gltf", "gnm", "orl"]) {
  test(`performance_of_${rig}_is_the_reference`, async (t) => {
    await chooseRig(rig);
    const rest = await page.evaluate(() => (globalThis.rigeval.viewer.reset(), undefined)).then(vertices);
    for (const seconds of [0.5, 1.3, 2.7]) {
      await page.evaluate((s) => globalThis.rigeval.viewer.seek(s), seconds);
      const { metres, largest } = await vertices();
      t.diagnostic(`at ${seconds} s: largest difference ${(largest * 1e6).toFixed(4)} um`);
      assert.ok(largest <= TOLERANCE_M, `at ${seconds} s: ${largest} m`);
      const far = moved(metres, rest.metres).filter((d) => d > 1e-3).length;
      assert.ok(far > metres.length / 3 / 2, `at ${seconds} s: ${far} vertices moved`);
    }
    await page.screenshot({ path: join(OUT, `${rig}_performance.png`) });
    await page.click("#reset");
  });
}

test("vertices_are_those_of_the_native_command_line", { skip: !process.env.RIGEVAL_CLI && "no RIGEVAL_CLI" }, async (t) => {
  await chooseRig("gnm");
  await page.evaluate(() => globalThis.rigeval.viewer.seek(1.3));
  const { metres } = await vertices();
  const [controls, overrides] = await page.evaluate(() => {
    const { viewer } = globalThis.rigeval;
    return [Array.from(viewer.controls()), viewer.overrides()];
  });
  const folder = mkdtempSync(join(tmpdir(), "rigeval-web-"));
  const file = (name) => join(folder, name);
  writeFileSync(file("c.npy"), npyOf([1, controls.length], controls));
  writeFileSync(file("o.json"), overrides);
  const inputs = ["--controls", file("c.npy"), "--overrides", file("o.json")];
  execFileSync(process.env.RIGEVAL_CLI, ["eval", PACK, ...inputs, "--device", "cpu", "-o", file("v.npy")]);
  const native = f32Of(readFileSync(file("v.npy")));
  rmSync(folder, { recursive: true });
  assert.equal(native.length, metres.length);
  const largest = native.reduce((worst, x, i) => Math.max(worst, Math.abs(x - metres[i])), 0);
  t.diagnostic(`largest difference ${(largest * 1e6).toFixed(4)} um`);
  assert.ok(largest <= TOLERANCE_M, `${largest} m`);
  await page.click("#reset");
});

test("slider_moves_its_part_and_leaves_the_rest", async () => {
  await chooseRig("gnm");
  await page.click("#reset");
  // There and back: until something moves, the buffer holds the rest mesh of the CPU.
  await slide("eyeBlinkLeft", 0.5);
  await drawn();
  await slide("eyeBlinkLeft", 0);
  const rest = (await vertices()).metres;
  await slide("eyeBlinkLeft", 1);
  const blink = await vertices();
  assert.ok(blink.largest <= TOLERANCE_M);
  const far = moved(blink.metres, rest);
  const sides = { left: 0, right: 0 };
  far.forEach((distance, v) => {
    // Lids reach up to a centimetre from the middle.
    if (distance > 1e-4 && Math.abs(rest[3 * v]) > 0.01) sides[rest[3 * v] > 0 ? "left" : "right"] += 1;
  });
  assert.ok(sides.left > 10, `${sides.left} vertices of the left side moved`);
  assert.equal(sides.right, 0, "the right side stays");
  assert.ok(far.filter((distance) => distance === 0).length > far.length / 2, "most of the head stays to the bit");
  assert.equal(await page.locator("#eyeBlinkLeft + output").textContent(), "1.00");

  await slide("eyeBlinkLeft", 0);
  assert.deepEqual((await vertices()).metres, rest, "and back to the bit");
});

test("shapes_that_move_nothing_are_disabled", async () => {
  await chooseRig("gnm");
  const drives = await page.evaluate(() => Array.from(globalThis.rigeval.viewer.drives()));
  const disabled = await page.locator("#sliders input:disabled").count();
  assert.equal(disabled, drives.filter((d) => d === 0).length);
  assert.equal(disabled, 24, "what the hand-made table has no entry for");
});

test("pointer_turns_the_eyes_to_its_side", async () => {
  await chooseRig("gnm");
  await page.click("#reset");
  const canvas = await page.locator("#canvas").boundingBox();
  const gaze = async (x, y) => {
    await page.mouse.move(canvas.x + canvas.width * x, canvas.y + canvas.height * y);
    await drawn();
    const controls = await page.evaluate(() => Array.from(globalThis.rigeval.viewer.controls().slice(-4)));
    return { pitch: controls[0], yaw: controls[1] };
  };
  const [left, right] = [await gaze(0.1, 0.45), await gaze(0.9, 0.45)];
  assert.ok(right.yaw > 0.2 && left.yaw < -0.05, `yaw ${left.yaw} and ${right.yaw}: right of the picture is the character's left`);
  const [up, down] = [await gaze(0.5, 0.02), await gaze(0.5, 0.98)];
  assert.ok(up.pitch < -0.1 && down.pitch > 0.1, `pitch ${up.pitch} and ${down.pitch}`);
  assert.ok((await vertices()).largest <= TOLERANCE_M);
  const look = await page.locator("#eyeLookDownLeft").inputValue();
  assert.ok(Number(look) > 0.3, `the sliders follow the gaze: ${look}`);
});

test("dropped_files_of_each_kind_are_shown", async () => {
  const { document, binary } = box();
  await drop("box.glb", glb(document, binary));
  await page.waitForSelector('body[data-rig="gltf"]');
  assert.equal(await text("#vertices"), "8");
  assert.equal(await text("#own-name"), "box.glb");
  const rest = (await vertices()).metres;
  await slide("jawOpen", 1);
  const open = await vertices();
  assert.ok(open.largest <= TOLERANCE_M);
  moved(open.metres, rest).forEach((distance, v) => {
    assert.ok(Math.abs(distance - (rest[3 * v + 1] > 0 ? LIFT_M : 0)) < 1e-6, `corner ${v} moved ${distance} m`);
  });
  await page.click("#reset");

  for (const [name, path, rig, count] of [
    ["mine.aosrig", PACK, "gnm", "2,090"],
    ["mine.dna", at("../../reference/orl/tiny.dna"), "orl", "60"],
    ["mine.vrm", at("../../packs/gltf_sample.glb"), "gltf", "2,090"],
  ]) {
    await drop(name, readFileSync(path));
    await page.waitForFunction((n) => document.getElementById("own-name").textContent === n, name);
    assert.equal(await page.getAttribute("body", "data-rig"), rig);
    assert.equal(await text("#vertices"), count);
    assert.ok((await vertices()).largest <= TOLERANCE_M, name);
  }
  assert.equal(await page.locator("#error").isVisible(), false);
});

test("clip_of_a_file_without_a_face_is_played", async () => {
  await page.click("#reset");
  await drop("sliding.glb", slidingBox());
  await page.waitForSelector("#faceless:not([hidden])");
  const rest = (await vertices()).metres;
  await page.evaluate(() => globalThis.rigeval.viewer.seek(0.5));
  const half = await vertices();
  assert.ok(half.largest <= TOLERANCE_M);
  for (const distance of moved(half.metres, rest)) assert.ok(Math.abs(distance - SLIDE_M / 2) < 1e-6, `${distance} m`);
  await page.click("#reset");
  assert.deepEqual((await vertices()).metres, rest);
});

test("file_button_opens_a_file", async () => {
  const { document, binary } = box();
  await page.setInputFiles("#file", { name: "chosen.glb", mimeType: "model/gltf-binary", buffer: glb(document, binary) });
  await page.waitForSelector('body[data-rig="gltf"]');
  assert.equal(await text("#own-name"), "chosen.glb");
});

test("bad_files_are_refused_in_one_line_and_the_rig_stays", async () => {
  await chooseRig("gnm");
  const pack = readFileSync(PACK);
  const { document, binary } = box();
  const packed = {
    ...document,
    extensionsUsed: ["EXT_meshopt_compression"],
    extensionsRequired: ["EXT_meshopt_compression"],
    bufferViews: document.bufferViews.map((view) => ({
      ...view,
      extensions: { EXT_meshopt_compression: { buffer: 0, byteLength: 4, byteStride: 12, count: 8, mode: "ATTRIBUTES" } },
    })),
  };
  const before = await vertices();
  for (const [name, bytes, says] of [
    ["cut.aosrig", pack.subarray(0, pack.length - 1000), /^cut\.aosrig: .*expected .*/],
    ["cut.glb", glb(document, binary).subarray(0, 900), /^cut\.glb: .*expected .*/],
    ["cut.dna", readFileSync(at("../../reference/orl/tiny.dna")).subarray(0, 4000), /^cut\.dna: .*expected .*/],
    ["packed.glb", glb(packed, binary), /^packed\.glb: .*meshopt.*/],
    ["page.glb", Buffer.from("<!doctype html><p>no head"), /^page\.glb: .*HTML.*/],
    ["notes.txt", Buffer.from("some notes"), /^notes\.txt: expected an \.aosrig pack, a DNA file, an ORL pack or a glTF file, .*/],
    ["empty.dna", Buffer.alloc(0), /^empty\.dna: .*/],
  ]) {
    await page.evaluate(() => (document.getElementById("error").hidden = true));
    await drop(name, bytes);
    await page.waitForSelector("#error:not([hidden])");
    const line = await text("#error-text");
    assert.match(line, says);
    assert.ok(!line.includes("\n"), line);
    assert.equal(await page.getAttribute("body", "data-rig"), "gnm");
    assert.equal(await page.locator('#rigs input[value="gnm"]').isChecked(), true);
    if (name === "cut.aosrig") await page.screenshot({ path: join(OUT, "error.png") });
  }
  assert.deepEqual((await vertices()).metres, before.metres);
  await page.click("#error-close");
  assert.equal(await page.locator("#error").isVisible(), false);
});

test("keyboard_alone_reaches_and_moves_everything", async () => {
  const fresh = await open();
  const { keyboard } = fresh;
  const settle = () => drawn(fresh);
  const reached = [];
  for (let i = 0; i < 6; i += 1) {
    await keyboard.press("Tab");
    reached.push(await fresh.evaluate(() => document.activeElement.id || document.activeElement.name));
  }
  assert.deepEqual(reached, ["canvas", "rig", "play", "reset", "file", "eyeBlinkLeft"]);

  await fresh.locator('#rigs input[value="gnm"]').focus();
  await keyboard.press("ArrowRight");
  await fresh.waitForSelector('body[data-rig="orl"]');
  await keyboard.press("ArrowLeft");
  await fresh.waitForSelector('body[data-rig="gnm"]');

  await fresh.locator("#browInnerUp").focus();
  await keyboard.press("ArrowRight");
  await settle();
  assert.equal(await fresh.locator("#browInnerUp + output").textContent(), "0.01");

  await fresh.locator("#canvas").focus();
  await keyboard.press(" ");
  await fresh.waitForFunction(() => Number(document.getElementById("jawOpen").value) > 0.1, null, { timeout: 60_000 });
  assert.equal(await fresh.locator("#play").textContent(), "Pause");
  await keyboard.press(" ");
  await settle();
  assert.equal(await fresh.locator("#play").textContent(), "Play");
  await keyboard.press("Home");
  await keyboard.press("Shift+ArrowLeft");
  await settle();
  assert.equal(await fresh.locator("#jawOpen").inputValue(), "0");
  assert.ok(Number(await fresh.locator("#eyeLookInLeft").inputValue()) > 0, "to the left of the screen is the character's right");
  const picture = () => fresh.locator("#canvas").screenshot();
  const ahead = await picture();
  await keyboard.press("ArrowLeft");
  await settle();
  assert.notDeepEqual(await picture(), ahead, "an arrow turns the head");
  await fresh.close();
});

test("controls_have_labels", async () => {
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll("input, button, canvas")]
      .filter((e) => !(e.labels?.[0]?.textContent.trim() || e.getAttribute("aria-label") || e.textContent.trim()))
      .map((e) => e.outerHTML),
  );
  assert.deepEqual(unnamed, []);
});

test("canvas_has_the_pixels_of_the_screen", async () => {
  const wide = await open({ deviceScaleFactor: 2, viewport: { width: 900, height: 500 } });
  const sizes = () =>
    wide.evaluate(() => {
      const { width, height, clientWidth, clientHeight } = document.getElementById("canvas");
      return [width / clientWidth, height / clientHeight];
    });
  assert.deepEqual(await sizes(), [2, 2]);
  await wide.setViewportSize({ width: 480, height: 800 });
  await wide.waitForFunction(() => document.getElementById("canvas").width === 2 * document.getElementById("canvas").clientWidth);
  assert.deepEqual(await sizes(), [2, 2]);
  await wide.screenshot({ path: join(OUT, "narrow.png") });
  await wide.close();
});

test("picture_shows_a_head_before_a_plain_ground", async () => {
  await chooseRig("orl");
  await page.click("#reset");
  await drawn();
  await page.screenshot({ path: join(OUT, "orl.png") });
  await chooseRig("gnm");
  const picture = await page.locator("#canvas").screenshot();
  const colors = await page.evaluate(async (base64) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const color = (x, y) => Array.from(context.getImageData(image.width * x, image.height * y, 1, 1).data.slice(0, 3));
    return { cheek: color(0.5, 0.6), corner: color(0.03, 0.2) };
  }, picture.toString("base64"));
  const [r, g, b] = colors.cheek;
  assert.ok(r > g && g > b && r > 80, `skin is ${colors.cheek}`);
  assert.ok(Math.hypot(...colors.cheek.map((c, k) => c - colors.corner[k])) > 60, JSON.stringify(colors));
});

test("page_without_webgpu_says_so", async () => {
  const plain = await launch([]);
  try {
    const bare = await plain.newPage();
    const errors = [];
    bare.on("pageerror", (error) => errors.push(error.message));
    await bare.goto(`http://localhost:${server.address().port}/`);
    await bare.waitForSelector('body[data-state="unsupported"]', { timeout: 60_000 });
    assert.equal(await bare.locator("#unsupported").isVisible(), true);
    assert.match(await bare.locator("#unsupported").textContent(), /needs WebGPU/);
    assert.deepEqual(errors, []);
    await bare.screenshot({ path: join(OUT, "unsupported.png") });
  } finally {
    await plain.close();
  }
});

test("console_has_no_errors", () => assert.deepEqual(complaints, []));
