//! The page's viewer: one head on the browser's own WebGPU. The page brings bytes, pointer places and slider values; all that is computed is
//! computed here.

mod character;
mod device;
mod face;
mod open;
mod view;

use character::Character;
use device::Screen;
use face::Face;
use js_sys::{Float32Array, Promise};
use rigeval::error::ControlError;
use rigeval::expression::{ArkitShape, Gaze};
use rigeval::glam::Vec2;
use rigeval::head::HeadSize;
use rigeval::picture::{Mode, Scene, Shot, Subject};
use rigeval::{gltf, orl};
use view::View;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

/// The backdrop at the upper and the lower edge, sRGB: as dark as the page.
const BACKDROP: [[f32; 3]; 2] = [[0.12, 0.13, 0.16], [0.27, 0.30, 0.34]];

/// One head on a canvas.
#[wasm_bindgen]
pub struct Viewer {
    screen: Screen,
    shown: Option<Shown>,
    face: Face,
    view: View,
    /// When the last moment of what plays was, by the page's clock.
    clock_ms: Option<f64>,
    is_playing: bool,
    is_stale: bool,
}

struct Shown {
    character: Character,
    subject: Subject,
    kind: &'static str,
}

#[wasm_bindgen]
impl Viewer {
    /// Takes the canvas and a device of the browser.
    ///
    /// # Errors
    /// No WebGPU, no adapter, no device with the default limits.
    pub async fn start(canvas: HtmlCanvasElement) -> Result<Viewer, JsError> {
        device::report_panics();
        Ok(Viewer {
            screen: Screen::new(canvas).await.map_err(|reason| JsError::new(&reason))?,
            shown: None,
            face: Face::default(),
            view: View::default(),
            clock_ms: None,
            is_playing: false,
            is_stale: true,
        })
    }

    /// The names of the ARKit shapes, by the index that all calls here take.
    pub fn shapes() -> Vec<String> {
        ArkitShape::ALL.iter().map(|shape| shape.name().to_string()).collect()
    }

    /// Shows the rig in these bytes in place of the one that is there.
    ///
    /// # Errors
    /// One line that says what is wrong with the file; the rig that is there stays.
    pub fn open(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), JsError> {
        let shown = self.load(name, bytes).map_err(|reason| JsError::new(&reason))?;
        self.shown = Some(shown);
        self.is_stale = true;
        Ok(())
    }

    /// Shows a head that the library makes: a full-size one as `gltf`, a small one as `orl`, which takes longer to make.
    ///
    /// # Errors
    /// Another name; as [`Viewer::open`].
    #[wasm_bindgen(js_name = openSample)]
    pub fn open_sample(&mut self, rig: &str) -> Result<(), JsError> {
        match rig {
            "gltf" => self.open("sample.glb", gltf::sample::sample(HeadSize::Full)),
            "orl" => self.open("sample.dna", orl::sample::sample(HeadSize::Small).write(orl::sample::FILE_VERSION)?),
            _ => Err(JsError::new(&format!("sample: expected gltf or orl, got {rig}"))),
        }
    }

    fn load(&self, name: &str, bytes: Vec<u8>) -> Result<Shown, String> {
        let gpu = self.screen.gpu();
        let scene = open::open(name, bytes)?;
        let in_file = |reason: String| format!("{name}: {reason}");
        let mut character = Character::new(&gpu, scene).map_err(|e| in_file(e.to_string()))?;
        let rest = character.reference().map_err(|e| in_file(e.to_string()))?;
        let subject = Subject::new(&gpu, character.backend().mesh(), &rest).map_err(|e| in_file(e.to_string()))?;
        character.set(&self.face).map_err(|e| in_file(e.to_string()))?;
        let kind = character.backend().info().kind.name();
        Ok(Shown { character, subject, kind })
    }

    /// `gnm`, `orl`, `gltf`; empty before there is a rig.
    #[wasm_bindgen(getter)]
    pub fn rig(&self) -> String {
        self.shown.as_ref().map_or("", |shown| shown.kind).into()
    }

    /// How many vertices the rig has.
    #[wasm_bindgen(getter)]
    pub fn vertices(&self) -> usize {
        self.character().map_or(0, |character| character.backend().info().vertex_count)
    }

    /// How many controls the rig has.
    #[wasm_bindgen(getter, js_name = controlCount)]
    pub fn control_count(&self) -> usize {
        self.character().map_or(0, |character| character.controls().len())
    }

    /// How many metres a unit of the rig is.
    #[wasm_bindgen(getter, js_name = unitInMetres)]
    pub fn unit_in_metres(&self) -> f64 {
        self.character().map_or(1.0, |character| character.backend().info().units.in_metres())
    }

    /// By shape, whether it moves this rig.
    pub fn drives(&self) -> Vec<u8> {
        self.character().map_or(vec![0; 52], |character| character.drives().map(u8::from).to_vec())
    }

    /// The weights as they stand.
    pub fn weights(&self) -> Vec<f32> {
        self.face.weights.to_vec()
    }

    /// Sets one weight; what was playing stops where it is.
    #[wasm_bindgen(js_name = setWeight)]
    pub fn set_weight(&mut self, shape: usize, weight: f32) {
        self.is_playing = false;
        if shape < self.face.weights.len() {
            self.face.set_weight(shape, weight);
            self.is_stale = true;
        }
    }

    /// Puts the face to rest, and the camera back.
    pub fn reset(&mut self) {
        self.is_playing = false;
        self.face = Face::default();
        self.view = View::default();
        self.is_stale = true;
    }

    /// Turns the eyes to a place of the canvas, CSS pixels from its upper left corner, unless the performance has them.
    #[wasm_bindgen(js_name = lookAtPixel)]
    pub fn look_at_pixel(&mut self, x: f32, y: f32) {
        let (Some(shown), false) = (&self.shown, self.is_playing) else { return };
        let camera = self.camera(&shown.character);
        let point = view::pointed_at(&camera, Vec2::new(x, y) / self.screen.css_size(), shown.character.eye_middle());
        self.face.look(Gaze::toward(shown.character.offset_from_eyes(point), [[0.0; 3]; 2]));
        self.is_stale = true;
    }

    /// Turns the eyes by so many degrees, to the character's left and down.
    #[wasm_bindgen(js_name = turnGaze)]
    pub fn turn_gaze(&mut self, left_deg: f32, down_deg: f32) {
        let Gaze { pitch, yaw } = self.face.gaze.unwrap_or_default();
        self.face.look(Gaze { pitch: pitch + down_deg.to_radians(), yaw: yaw + left_deg.to_radians() });
        self.is_stale = true;
    }

    /// Turns the camera by a drag of so many CSS pixels.
    pub fn drag(&mut self, right: f32, down: f32) {
        let turn = Vec2::new(right, down) / self.screen.css_size().min_element() * std::f32::consts::PI;
        self.orbit(-turn.x.to_degrees(), turn.y.to_degrees());
    }

    /// Moves the camera round the head, degrees to its left and up.
    pub fn orbit(&mut self, left_deg: f32, up_deg: f32) {
        self.view.orbit(left_deg.to_radians(), up_deg.to_radians());
        self.is_stale = true;
    }

    /// Shows more of the scene for steps above zero, less of it for those below; about a tenth each.
    pub fn zoom(&mut self, steps: f32) {
        self.view.zoom(steps);
        self.is_stale = true;
    }

    /// Whether the performance runs.
    #[wasm_bindgen(getter)]
    pub fn playing(&self) -> bool {
        self.is_playing
    }

    /// Starts or stops the performance.
    #[wasm_bindgen(setter)]
    pub fn set_playing(&mut self, is_playing: bool) {
        self.is_playing = is_playing;
        self.clock_ms = None;
        self.is_stale = true;
    }

    /// Puts the performance to a moment, seconds, and stops it there.
    pub fn seek(&mut self, seconds: f64) {
        self.is_playing = false;
        self.face = Face::performing(seconds);
        self.is_stale = true;
    }

    /// The canvas as it is laid out: CSS pixels, and device pixels per CSS pixel.
    pub fn resize(&mut self, css_width: f32, css_height: f32, ratio: f32) {
        self.screen.resize(Vec2::new(css_width, css_height), ratio);
        self.is_stale = true;
    }

    /// Poses and draws one frame, if anything differs from the last one, and says whether it did.
    ///
    /// # Errors
    /// What the rig refuses.
    pub fn frame(&mut self, now_ms: f64) -> Result<bool, JsError> {
        if self.is_playing {
            let elapsed_ms = self.clock_ms.map_or(0.0, |before| (now_ms - before).max(0.0));
            self.clock_ms = Some(now_ms);
            self.face = Face::performing(self.face.moment_s + elapsed_ms / 1e3);
        }
        if !(self.is_stale || self.is_playing) {
            return Ok(false);
        }
        Ok(self.draw()?)
    }

    fn draw(&mut self) -> Result<bool, ControlError> {
        let Some(shown) = &self.shown else { return Ok(false) };
        let camera = self.camera(&shown.character);
        let Some(frame) = self.screen.begin() else { return Ok(false) };
        let Some(Shown { character, subject, .. }) = &mut self.shown else { return Ok(false) };
        character.set(&self.face)?;
        let mut encoder = self.screen.encoder();
        let queue = self.screen.gpu().queue.clone();
        character.backend_mut().encode(&queue, &mut encoder);
        let shots = [Shot::new(subject, character.backend().vertices(), Mode::Shaded)];
        let scene = Scene { backdrop: BACKDROP, ..Scene::new(camera) };
        self.screen.end(frame, encoder, &scene, &shots);
        self.is_stale = false;
        Ok(true)
    }

    /// How long the last finished frame took, from the controls to the finished picture, milliseconds; 0 before there is one.
    #[wasm_bindgen(getter, js_name = frameMs)]
    pub fn frame_ms(&self) -> f64 {
        self.screen.frame_ms()
    }

    /// What the device reported, if anything.
    pub fn fault(&self) -> Option<String> {
        self.screen.fault()
    }

    fn character(&self) -> Option<&Character> {
        self.shown.as_ref().map(|shown| &shown.character)
    }

    fn camera(&self, character: &Character) -> rigeval::picture::Camera {
        self.view.camera(&character.backend().info().rest_bounds, character.facing_rad(), self.screen.aspect())
    }
}

/// What the browser test looks at; a page has no use for it.
#[wasm_bindgen]
impl Viewer {
    /// The vertices that the device has, (V, 3), in the rig's unit.
    #[wasm_bindgen(js_name = readVertices)]
    pub fn read_vertices(&self) -> Promise {
        match self.character() {
            Some(character) => self.screen.read(character.backend().vertices().current_positions()),
            None => Promise::reject(&"no rig".into()),
        }
    }

    /// The vertices that the CPU reference gives for the same controls and joints, (V, 3).
    ///
    /// # Errors
    /// What the rig refuses.
    #[wasm_bindgen(js_name = referenceVertices)]
    pub fn reference_vertices(&self) -> Result<Float32Array, JsError> {
        let positions = self.character().map(Character::reference).transpose()?.unwrap_or_default();
        Ok(Float32Array::from(positions.as_flattened()))
    }

    /// The rig's controls as they were last set, (C).
    pub fn controls(&self) -> Vec<f32> {
        self.character().map_or(Vec::new(), |character| character.controls().to_vec())
    }

    /// What turns the joints on top of their rest, as the command line takes it: JSON, joint to w, x, y, z.
    pub fn overrides(&self) -> String {
        self.character().map_or_else(|| "{}".to_string(), Character::overrides_json)
    }
}
