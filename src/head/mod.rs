//! The procedural head: geometry and named motion fields that every rig's sample is made from.
//!
//! No captured data is in it: a sculpted stack of cross-sections becomes a sheet of quads, the eyes and the mouth are cut into it,
//! and eyeballs, teeth and a tongue are put behind them. It is exactly symmetric, and the same on every machine up to the last
//! digits of `sin` and `exp`. Metres; +X subject-left, +Y up, +Z out of the face.

pub(crate) mod anatomy;
pub(crate) mod canvas;
pub(crate) mod curve;
mod groups;
mod inset;
mod mirror;
mod motion;
mod openings;
mod organs;
mod random;
mod shape;
mod sheet;
mod skinning;
mod windows;

pub use motion::Motion;
pub(crate) use random::{RandomFields, Rng};
pub use skinning::{JOINT_NAMES, JOINT_PARENTS};

use anatomy::Detail;
use glam::{DVec3, dvec3};
use organs::Organ;
use sheet::Sheet;

/// How finely the head is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeadSize {
    /// 17,821 vertices, as Google's head has.
    Full,
    /// About 2,000 vertices.
    Small,
    /// 447 vertices, without openings for eyes and mouth: for tests.
    Tiny,
}

/// A side of the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The subject's left, +X.
    Left,
    /// The subject's right, -X.
    Right,
}

impl Side {
    /// Left, then right.
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];

    /// The sign of x on this side.
    #[must_use]
    pub fn sign(self) -> f64 {
        match self {
            Side::Left => 1.0,
            Side::Right => -1.0,
        }
    }

    /// The side that a point at this x lies on; the midline counts as left.
    #[must_use]
    pub fn of(x: f64) -> Side {
        if x < 0.0 { Side::Right } else { Side::Left }
    }

    /// What lies at `p` on the left, on this side.
    fn mirrored(self, p: DVec3) -> DVec3 {
        dvec3(p.x * self.sign(), p.y, p.z)
    }
}

/// A connected part of the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Component {
    /// The skin with the insides of the mouth and of the eye sockets.
    Skin,
    /// The left eyeball, shell and bowl.
    LeftEye,
    /// The right eyeball.
    RightEye,
    /// The upper teeth and their gums.
    UpperTeeth,
    /// The lower teeth and their gums.
    LowerTeeth,
    /// The tongue.
    Tongue,
}

impl Component {
    /// All, in the order in which their vertices lie.
    pub const ALL: [Component; 6] = [
        Component::Skin,
        Component::LeftEye,
        Component::RightEye,
        Component::UpperTeeth,
        Component::LowerTeeth,
        Component::Tongue,
    ];

    /// The name that Google's model gives the part.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Component::Skin => "skin",
            Component::LeftEye => "left_eye",
            Component::RightEye => "right_eye",
            Component::UpperTeeth => "upper_teeth_and_gums",
            Component::LowerTeeth => "lower_teeth_and_gums",
            Component::Tongue => "tongue",
        }
    }

    /// The part on the other side; a part on the midline is its own.
    #[must_use]
    pub fn mirrored(self) -> Component {
        match self {
            Component::LeftEye => Component::RightEye,
            Component::RightEye => Component::LeftEye,
            other => other,
        }
    }

    /// The eyeball on that side.
    #[must_use]
    pub fn eye(side: Side) -> Component {
        match side {
            Side::Left => Component::LeftEye,
            Side::Right => Component::RightEye,
        }
    }
}

/// What a vertex is part of, for materials and for what moves with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tissue {
    /// Outer skin, lids and lips included.
    Skin,
    /// The inside of the mouth.
    MouthSock,
    /// The pocket behind the lids.
    EyeSocket,
    /// The eye's clear outer shell.
    EyeShell,
    /// Pupil, iris and sclera.
    EyeBowl,
    /// A tooth.
    Tooth,
    /// Gum.
    Gum,
    /// The tongue.
    Tongue,
}

/// The head at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// (V).
    pub positions: Vec<DVec3>,
    /// Counter-clockwise seen from outside.
    pub quads: Vec<[u32; 4]>,
    /// Per corner, 0..1; the layouts of skin, eyes, teeth and tongue lie over each other.
    pub quad_uvs: Vec<[[f32; 2]; 4]>,
    /// (V).
    pub components: Vec<Component>,
    /// (V).
    pub tissues: Vec<Tissue>,
    /// (V): the vertex at the reflection of each. Its own inverse.
    pub mirror: Vec<u32>,
    /// (V): the angle from the axis of the eye, for vertices of a bowl; infinite elsewhere.
    polar_angles: Vec<f64>,
    detail: Detail,
}

impl Head {
    /// Builds the head.
    #[must_use]
    pub fn build(size: HeadSize) -> Head {
        Head::of_detail(Detail::of(size))
    }

    /// A finer head than [`HeadSize::Full`]: 24,049 vertices of skin, as a MetaHuman's head mesh has.
    #[must_use]
    pub fn build_fine() -> Head {
        Head::of_detail(Detail::fine())
    }

    fn of_detail(detail: Detail) -> Head {
        let mut head = Head {
            positions: vec![],
            quads: vec![],
            quad_uvs: vec![],
            components: vec![],
            tissues: vec![],
            mirror: vec![],
            polar_angles: vec![],
            detail,
        };
        let mut sheet = Sheet::build(&detail);
        sheet.open(&detail);
        let skin = Organ { positions: sheet.positions, quads: sheet.quads, quad_uvs: sheet.quad_uvs };
        head.add(Component::Skin, skin, &sheet.tissues, DVec3::ZERO);
        for side in Side::BOTH {
            head.add_eye(side);
        }
        for (component, upper) in [(Component::UpperTeeth, true), (Component::LowerTeeth, false)] {
            let (arch, gums) = organs::teeth(detail.teeth, upper);
            let tissues: Vec<Tissue> = gums.iter().map(|gum| if *gum { Tissue::Gum } else { Tissue::Tooth }).collect();
            head.add(component, arch, &tissues, DVec3::ZERO);
        }
        let tongue = organs::tongue(detail.tongue);
        let tissues = vec![Tissue::Tongue; tongue.positions.len()];
        head.add(Component::Tongue, tongue, &tissues, DVec3::ZERO);

        head.mirror = mirror::partners(&head.positions, &head.components);
        mirror::symmetrise(&mut head.positions, &head.mirror);
        head
    }

    fn add_eye(&mut self, side: Side) {
        let (component, centre) = (Component::eye(side), anatomy::eye_centre(side));
        let shell = organs::eye_shell(self.detail.shell);
        let tissues = vec![Tissue::EyeShell; shell.positions.len()];
        self.add(component, shell, &tissues, centre);
        let (bowl, angles) = organs::eye_bowl(self.detail.bowl);
        let tissues = vec![Tissue::EyeBowl; bowl.positions.len()];
        let first = self.positions.len();
        self.add(component, bowl, &tissues, centre);
        self.polar_angles[first..].copy_from_slice(&angles);
    }

    fn add(&mut self, component: Component, organ: Organ, tissues: &[Tissue], centre: DVec3) {
        let first = self.positions.len();
        self.positions.extend(organ.positions.iter().map(|p| *p + centre));
        self.quads.extend(organ.quads.iter().map(|quad| quad.map(|v| (v + first) as u32)));
        self.quad_uvs.extend(organ.quad_uvs.iter().map(|quad| quad.map(|uv| uv.map(|c| c.clamp(0.0, 1.0) as f32))));
        self.tissues.extend_from_slice(tissues);
        self.components.resize(self.positions.len(), component);
        self.polar_angles.resize(self.positions.len(), f64::INFINITY);
    }

    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Two triangles a quad: all first halves (corners 0, 1, 2), then all second halves (2, 3, 0).
    #[must_use]
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        halves(&self.quads)
    }

    /// The corners' uv of [`Head::triangles`].
    #[must_use]
    pub fn triangle_uvs(&self) -> Vec<[[f32; 2]; 3]> {
        halves(&self.quad_uvs)
    }

    /// The centre of an eyeball.
    #[must_use]
    pub fn eye_centre(&self, side: Side) -> DVec3 {
        anatomy::eye_centre(side)
    }

    /// The image of a field on the other side.
    ///
    /// # Shapes     field: (V, 3)
    #[must_use]
    pub fn mirrored(&self, field: &[DVec3]) -> Vec<DVec3> {
        self.mirror.iter().map(|partner| mirror::reflected(field[*partner as usize])).collect()
    }
}

fn halves<C: Copy>(quads: &[[C; 4]]) -> Vec<[C; 3]> {
    let first = quads.iter().map(|q| [q[0], q[1], q[2]]);
    let second = quads.iter().map(|q| [q[2], q[3], q[0]]);
    first.chain(second).collect()
}

#[cfg(test)]
mod tests;
