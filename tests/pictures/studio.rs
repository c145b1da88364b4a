//! Pictures in a test: heads on the device, a painter, and pixels to look at.

use crate::common;
use rigeval::backend::RigBackend;
use rigeval::expression::{ArkitColumns, ArkitMap, ArkitOrder, ArkitShape, ControlSpace, ExpressionMap, GnmRegions};
use rigeval::files::Files;
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::gpu::{GltfBackend, GltfDeviceModel, GltfOptions};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions};
use rigeval::gnm::pack::GnmPack;
use rigeval::gpu::headless::Headless;
use rigeval::head::HeadSize;
use rigeval::orl::gpu::{OrlBackend, OrlDeviceModel, OrlOptions};
use rigeval::orl::rig::{OrlRig, RigOptions};
use rigeval::picture::{Camera, Canvas, Mode, Painter, Scene, Shot, Subject, View};
use std::sync::{Arc, OnceLock};

pub const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// RGBA, four bytes a pixel, from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[u8; 4]>,
}

impl Image {
    pub fn at(&self, x: usize, y: usize) -> [u8; 4] {
        self.pixels[y * self.width + x]
    }

    pub fn mirrored(&self) -> Image {
        let rows = self.pixels.chunks_exact(self.width);
        Image { pixels: rows.flat_map(|row| row.iter().rev()).copied().collect(), ..self.clone() }
    }

    /// Columns, then rows, of every pixel that `is_wanted`.
    pub fn places(&self, is_wanted: impl Fn([u8; 4]) -> bool) -> Vec<[f64; 2]> {
        let wanted = self.pixels.iter().enumerate().filter(|(_, p)| is_wanted(**p));
        wanted.map(|(i, _)| [(i % self.width) as f64, (i / self.width) as f64]).collect()
    }
}

/// The device and the painter that all tests share.
pub struct Studio {
    pub gpu: &'static Headless,
    pub painter: Painter,
}

pub fn studio(test: &str) -> Option<&'static Studio> {
    static STUDIO: OnceLock<Studio> = OnceLock::new();
    let gpu = common::device(test)?;
    Some(STUDIO.get_or_init(|| Studio { gpu, painter: Painter::new(&gpu.context(), FORMAT) }))
}

impl Studio {
    pub fn paint(&self, size: [u32; 2], scene: &Scene, shots: &[Shot]) -> Image {
        self.paint_by(&self.painter, size, scene, shots)
    }

    pub fn paint_by(&self, painter: &Painter, size: [u32; 2], scene: &Scene, shots: &[Shot]) -> Image {
        let gpu = self.gpu;
        let target = gpu.device().create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: painter.color_format(),
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let canvas = Canvas::new(&gpu.context(), painter.color_format(), size);
        let mut encoder = gpu.encoder();
        painter.paint(&gpu.context(), &mut encoder, &canvas, &target.create_view(&Default::default()), scene, shots);
        gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
        let bytes = gpu.read_pixels(&target).unwrap_or_else(|e| panic!("{e}"));
        let [width, height] = size.map(|edge| edge as usize);
        Image { width, height, pixels: bytes.as_chunks().0.to_vec() }
    }

    /// A square picture of one rig from one side.
    pub fn portrait(&self, head: &Head, view: View, mode: Mode, edge: u32) -> Image {
        self.paint([edge; 2], &head.scene(view), &[head.shot(mode)])
    }
}

/// A rig with what its pictures need.
pub struct Head {
    pub rig: Box<dyn RigBackend>,
    pub subject: Subject,
    pub map: Option<ExpressionMap>,
}

impl Head {
    pub fn scene(&self, view: View) -> Scene {
        Scene::new(Camera::framing(&self.rig.info().rest_bounds, view, 1.0))
    }

    pub fn shot<'a>(&'a self, mode: Mode<'a>) -> Shot<'a> {
        Shot::new(&self.subject, self.rig.vertices(), mode)
    }

    /// The controls of these ARKit weights.
    pub fn express(&self, weights: &[(ArkitShape, f32)]) -> Vec<f32> {
        let map = self.map.as_ref().expect("a head that takes ARKit weights");
        let mut arkit = [0.0; 52];
        weights.iter().for_each(|(shape, weight)| arkit[*shape as usize] = *weight);
        let mut controls = self.rig.info().default_controls.clone();
        map.controls(&arkit, &mut controls).unwrap_or_else(|e| panic!("{e}"));
        controls
    }

    /// Poses the first instance.
    pub fn pose(&mut self, studio: &Studio, controls: &[f32]) {
        self.rig.set_controls(0, controls).unwrap_or_else(|e| panic!("{e}"));
        let mut encoder = studio.gpu.encoder();
        self.rig.encode(studio.gpu.queue(), &mut encoder);
        studio.gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
    }

    pub fn pose_as(&mut self, studio: &Studio, weights: &[(ArkitShape, f32)]) {
        self.pose(studio, &self.express(weights));
    }
}

fn arkit() -> ControlSpace {
    ControlSpace::arkit52(ArkitColumns::of(ArkitOrder::Engine))
}

/// The committed sample: 2,090 vertices, exactly symmetric.
pub fn gnm(studio: &Studio, instances: usize) -> Head {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/packs/gnm_sample.aosrig");
    let pack = Arc::new(GnmPack::read(std::fs::read(path).unwrap()).unwrap());
    let regions: Vec<(&str, usize)> = pack.regions().iter().map(|r| (r.name.as_str(), r.count)).collect();
    let layout = GnmRegions::new(&regions).unwrap();
    let gpu = studio.gpu.context();
    let model = Arc::new(GnmDeviceModel::new(&gpu, Arc::clone(&pack)).unwrap());
    let options = GnmOptions { normals: true, ..GnmOptions::default() };
    let rig = GnmBackend::new(&gpu, &model, instances, options).unwrap();
    Head {
        subject: Subject::new(&gpu, rig.mesh(), &pack.rest_positions()).unwrap(),
        rig: Box::new(rig),
        map: Some(ExpressionMap::new(arkit(), Some(ArkitMap::HandMade), &layout).unwrap()),
    }
}

/// The small MetaHuman-like sample with its teeth and eyes, in centimetres, driven by its GUI controls.
pub fn orl(studio: &Studio) -> Head {
    let dna = rigeval::orl::sample::sample(HeadSize::Small);
    let rig =
        Arc::new(OrlRig::from_dna(&dna, &RigOptions { meshes: vec![0, 1, 2, 3], ..RigOptions::default() }).unwrap());
    let gpu = studio.gpu.context();
    let model = Arc::new(OrlDeviceModel::new(&gpu, Arc::clone(&rig)).unwrap());
    let backend = OrlBackend::new(&gpu, &model, 1, OrlOptions { normals: true, ..OrlOptions::default() }).unwrap();
    let subject = Subject::new(&gpu, backend.mesh(), rig.rest_positions()).unwrap();
    Head { rig: Box::new(backend), subject, map: None }
}

/// The glTF sample: the same head with its own materials.
pub fn gltf(studio: &Studio) -> Head {
    let bytes = rigeval::gltf::sample::sample(HeadSize::Small);
    let model = Arc::new(GltfModel::load(&bytes, &Files::Memory(Default::default())).unwrap());
    let gpu = studio.gpu.context();
    let on_device = Arc::new(GltfDeviceModel::new(&gpu, Arc::clone(&model)).unwrap());
    let options = GltfOptions { normals: true, ..GltfOptions::default() };
    let backend = GltfBackend::new(&gpu, &on_device, 1, options).unwrap();
    let rest = gltf_morph(model.mesh(), &GltfPose::new(&model, OutputSpace::World));
    let subject = Subject::new(&gpu, backend.mesh(), &rest).unwrap();
    Head { rig: Box::new(backend), subject, map: None }
}

/// One head of every kind of rig, at rest.
pub fn heads(studio: &Studio) -> [(&'static str, Head); 3] {
    [("gnm", gnm(studio, 1)), ("orl", orl(studio)), ("gltf", gltf(studio))]
}
