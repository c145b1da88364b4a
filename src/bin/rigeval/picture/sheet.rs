//! Frames of one rig in a grid, and the error map of one frame.

use super::Easel;
use super::image::{Font, Image};
use super::legend::{Scale, number};
use crate::evaluate::{Backend, Inputs, in_frame};
use crate::failure::Failure;
use crate::posed::PosedRig;
use rigeval::backend::{VertexSpace, VertexView};
use rigeval::gpu::VERTEX_USAGES;
use rigeval::info::{RigMesh, Units};
use rigeval::math::Aabb;
use rigeval::picture::{Camera, Mode, Scene, Shot, Subject, View, value_buffer};
use rigeval::wgpu;

/// A rig that sits for its pictures.
pub struct Sitting<'a> {
    easel: Easel<'a>,
    rig: Backend,
    subject: Subject,
    inputs: &'a Inputs<'a>,
}

/// What is shown.
pub struct Sheet<'a> {
    /// The frames, row by row; the rest of the grid stays empty.
    pub frames: &'a [usize],
    /// Columns and rows.
    pub grid: [u32; 2],
    pub view: View,
    /// Of the whole, pixels.
    pub size: [u32; 2],
    pub style: Style<'a>,
}

/// How it is shown.
pub enum Style<'a> {
    Shaded,
    Normals,
    Wire,
    /// Errors of every vertex, a list for each frame shown; their scale, and what the caption says of them.
    Error {
        values: &'a [Vec<f32>],
        scale: Scale,
        caption: &'a str,
    },
}

impl<'a> Sitting<'a> {
    /// Puts the rig on the device.
    pub fn new(easel: Easel<'a>, rig: &PosedRig, inputs: &'a Inputs<'a>) -> Result<Sitting<'a>, Failure> {
        let context = easel.gpu().context();
        let subject = Subject::new(&context, &rig.mesh(), &rig.rest_positions())?;
        if subject.is_empty() {
            return Err(Failure::new("the rig has no triangles: there is nothing to draw"));
        }
        let rig = rig.backend(&context, 1)?;
        Ok(Sitting { easel, rig, subject, inputs })
    }

    fn set(&mut self, frame: usize) -> Result<(), Failure> {
        self.rig.set_controls(0, self.inputs.frame(frame)).map_err(in_frame(frame))?;
        self.rig.set_joint_overrides(0, &self.inputs.turns(frame)).map_err(in_frame(frame))?;
        Ok(())
    }

    fn pose(&mut self, frame: usize) -> Result<(), Failure> {
        self.set(frame)?;
        let gpu = self.easel.gpu();
        let mut encoder = gpu.encoder();
        self.rig.encode(gpu.queue(), &mut encoder);
        Ok(gpu.submit(encoder)?)
    }

    /// (V, 3) What the device makes of a frame.
    pub fn positions(&mut self, frame: usize) -> Result<Vec<f32>, Failure> {
        self.pose(frame)?;
        Ok(self.easel.gpu().read_f32(self.rig.vertices().current_positions())?)
    }

    /// The picture. One camera sees all frames, so that they can be compared.
    pub fn draw(&mut self, sheet: &Sheet) -> Result<Image, Failure> {
        let mut bounds: Option<Aabb> = None;
        for &frame in sheet.frames {
            self.set(frame)?;
            let own = self.rig.bounds(0);
            bounds = Some(bounds.map_or(own, |all| all.union(&own)));
        }
        let bounds = bounds.unwrap_or(self.rig.info().rest_bounds);
        let [width, height] = sheet.size;
        let legend = match &sheet.style {
            Style::Error { scale, caption, .. } => Some(scale.draw(width, caption)),
            _ => None,
        };
        let drawn = height.saturating_sub(legend.as_ref().map_or(0, |l| l.size[1]));
        let cell = [width / sheet.grid[0], drawn / sheet.grid[1]];
        if cell[0] < MIN_EDGE || cell[1] < MIN_EDGE {
            let [w, h] = cell;
            return Err(Failure::new(format!(
                "--size leaves {w} x {h} pixels for a picture: {MIN_EDGE} x {MIN_EDGE} at least"
            )));
        }
        let scene = Scene::new(Camera::framing(&bounds, sheet.view, cell[0] as f32 / cell[1] as f32));
        let mut image = Image::plain(sheet.size, BLANK);
        for (index, &frame) in sheet.frames.iter().enumerate() {
            self.pose(frame)?;
            let values;
            let mode = match &sheet.style {
                Style::Shaded => Mode::Shaded,
                Style::Normals => Mode::Normals,
                Style::Wire => Mode::Wire,
                Style::Error { values: lists, scale, .. } => {
                    values = value_buffer(&self.easel.gpu().context(), &lists[index]);
                    Mode::Error { values: &values, range: scale.end() as f32 }
                }
            };
            let shot = Shot::new(&self.subject, self.rig.vertices(), mode);
            let mut picture = self.easel.paint(cell, &scene, &[shot])?;
            if sheet.frames.len() > 1 {
                label(&mut picture, &format!("frame {frame}"));
            }
            let (column, row) = (index as u32 % sheet.grid[0], index as u32 / sheet.grid[0]);
            image.put(&picture, [column * cell[0], row * cell[1]]);
        }
        if let Some(legend) = legend {
            image.put(&legend, [0, height - legend.size[1]]);
        }
        Ok(image)
    }
}

/// Below this a picture shows nothing.
const MIN_EDGE: u32 = 16;
const BLANK: [u8; 3] = [148, 153, 160];

fn label(picture: &mut Image, text: &str) {
    let font = Font::for_width(picture.size[0]);
    let top = picture.size[1].saturating_sub(font.height() + 4);
    picture.text(text, [8, top], font, [30, 33, 38]);
}

/// What was compared in one frame.
pub struct Compared<'a> {
    /// What is drawn.
    pub mesh: &'a RigMesh,
    /// (V, 3).
    pub positions: &'a [f32],
    /// (V) The largest error of a coordinate.
    pub errors: &'a [f32],
    pub units: Units,
    /// Who against whom.
    pub title: &'a str,
}

/// The error map of positions that lie in memory, from two sides.
pub fn error_map(easel: &Easel, compared: &Compared, size: [u32; 2]) -> Result<Image, Failure> {
    let context = easel.gpu().context();
    let (positions, _) = compared.positions.as_chunks::<3>();
    let subject = Subject::new(&context, compared.mesh, positions)?;
    if subject.is_empty() {
        return Err(Failure::new("the rig has no triangles: there is nothing to draw"));
    }
    let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("rigeval.check.positions"),
        size: (compared.positions.len() * 4) as u64,
        usage: VERTEX_USAGES,
        mapped_at_creation: false,
    });
    context.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(compared.positions));
    let vertices = VertexView {
        positions: [&buffer, &buffer],
        current: 0,
        previous: 0,
        normals: None,
        tangents: None,
        space: VertexSpace::Rig,
        vertex_count: positions.len(),
        instance_count: 1,
    };
    let scale = Scale::up_to(largest(compared.errors), compared.units);
    let values = value_buffer(&context, compared.errors);
    let mode = Mode::Error { values: &values, range: scale.end() as f32 };
    let bounds = Aabb::of_points(positions.iter().copied());
    let legend = scale.draw(size[0], &caption(compared.title, compared.errors, compared.units));
    let cell = [size[0] / 2, size[1] - legend.size[1]];
    let mut image = Image::plain(size, BLANK);
    for (index, view) in [View::Front, View::ThreeQuarter].into_iter().enumerate() {
        let scene = Scene::new(Camera::framing(&bounds, view, cell[0] as f32 / cell[1] as f32));
        let picture = easel.paint(cell, &scene, &[Shot::new(&subject, vertices, mode)])?;
        image.put(&picture, [index as u32 * cell[0], 0]);
    }
    image.put(&legend, [0, cell[1]]);
    Ok(image)
}

/// (V) The largest error of a coordinate of each vertex; with `ids` the expected ones are those vertices, and the others have no error.
///
/// What is no number is as large an error as there is.
pub fn errors(expected: &[f64], got: &[f64], ids: Option<&[u32]>) -> Result<Vec<f32>, Failure> {
    let (expected, got) = (expected.as_chunks::<3>().0, got.as_chunks::<3>().0);
    let mut errors = vec![0.0f32; got.len()];
    let rows = ids.map_or(got.len(), <[u32]>::len);
    if rows != expected.len() {
        return Err(Failure::new(format!("vertices: expected {}, got {rows}", expected.len())));
    }
    for (row, e) in expected.iter().enumerate() {
        let vertex = ids.map_or(row, |ids| ids[row] as usize);
        let Some(g) = got.get(vertex) else {
            return Err(Failure::new(format!("vertex id {vertex}: expected below {}", got.len())));
        };
        let error = (0..3).map(|i| (e[i] - g[i]).abs()).fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
        errors[vertex] = if error.is_nan() { f32::MAX } else { error as f32 };
    }
    Ok(errors)
}

/// The largest of some errors; one that is no number is left out.
pub fn largest(errors: &[f32]) -> f64 {
    errors.iter().copied().filter(|e| e.is_finite()).fold(0.0f32, f32::max).into()
}

/// Who against whom, and the worst vertex.
pub fn caption(title: &str, errors: &[f32], units: Units) -> String {
    let worst = (0..errors.len()).max_by(|a, b| errors[*a].total_cmp(&errors[*b]));
    match worst.filter(|v| errors[*v] > 0.0) {
        Some(vertex) => {
            let um = number(f64::from(errors[vertex]) * units.in_metres() * 1e6);
            format!("{title}: at most {um} µm, vertex {vertex}")
        }
        None => format!("{title}: no difference"),
    }
}
