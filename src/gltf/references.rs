//! Every index of the document that a rig could follow leads somewhere, also where this one does not follow it.

use super::document::{Accessor, Primitive, Root, View, escape, item};
use crate::error::LoadError;

impl Root {
    /// # Errors
    /// `Value` - an index past the end of its list, by the pointer of the index.
    pub(super) fn check_references(&self) -> Result<(), LoadError> {
        for (i, view) in self.buffer_views.iter().enumerate() {
            self.check_view(view, &format!("/bufferViews/{i}"))?;
        }
        for (i, accessor) in self.accessors.iter().enumerate() {
            self.check_accessor(accessor, &format!("/accessors/{i}"))?;
        }
        for (i, mesh) in self.meshes.iter().enumerate() {
            for (k, primitive) in mesh.primitives.iter().enumerate() {
                self.check_primitive(primitive, &format!("/meshes/{i}/primitives/{k}"))?;
            }
        }
        for (i, skin) in self.skins.iter().enumerate() {
            self.check(skin.inverse_bind_matrices, || format!("/skins/{i}/inverseBindMatrices"))?;
            for (k, &joint) in skin.joints.iter().enumerate() {
                item(&self.nodes, joint, "nodes", format!("/skins/{i}/joints/{k}"))?;
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(mesh) = node.mesh {
                item(&self.meshes, mesh, "meshes", format!("/nodes/{i}/mesh"))?;
            }
            if let Some(skin) = node.skin {
                item(&self.skins, skin, "skins", format!("/nodes/{i}/skin"))?;
            }
        }
        self.check_animations()
    }

    fn check(&self, accessor: Option<usize>, field: impl Fn() -> String) -> Result<(), LoadError> {
        match accessor {
            Some(index) if index >= self.accessors.len() => {
                item(&self.accessors, index, "accessors", field()).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn check_view(&self, view: &View, place: &str) -> Result<(), LoadError> {
        item(&self.buffers, view.buffer, "buffers", format!("{place}/buffer"))?;
        if let Some(packed) = &view.extensions.meshopt {
            let field = format!("{place}/extensions/EXT_meshopt_compression/buffer");
            item(&self.buffers, packed.buffer, "buffers", field)?;
        }
        Ok(())
    }

    fn check_accessor(&self, accessor: &Accessor, place: &str) -> Result<(), LoadError> {
        let view =
            |index, field: &str| item(&self.buffer_views, index, "bufferViews", format!("{place}/{field}")).map(drop);
        if let Some(index) = accessor.buffer_view {
            view(index, "bufferView")?;
        }
        if let Some(sparse) = &accessor.sparse {
            view(sparse.indices.buffer_view, "sparse/indices/bufferView")?;
            view(sparse.values.buffer_view, "sparse/values/bufferView")?;
        }
        Ok(())
    }

    fn check_primitive(&self, primitive: &Primitive, place: &str) -> Result<(), LoadError> {
        for (key, &accessor) in &primitive.attributes {
            self.check(Some(accessor), || format!("{place}/attributes/{}", escape(key)))?;
        }
        self.check(primitive.indices, || format!("{place}/indices"))?;
        for (t, target) in primitive.targets.iter().enumerate() {
            self.check(target.position, || format!("{place}/targets/{t}/POSITION"))?;
            self.check(target.normal, || format!("{place}/targets/{t}/NORMAL"))?;
            self.check(target.tangent, || format!("{place}/targets/{t}/TANGENT"))?;
        }
        Ok(())
    }

    fn check_animations(&self) -> Result<(), LoadError> {
        for (i, animation) in self.animations.iter().enumerate() {
            for (k, sampler) in animation.samplers.iter().enumerate() {
                self.check(Some(sampler.input), || format!("/animations/{i}/samplers/{k}/input"))?;
                self.check(Some(sampler.output), || format!("/animations/{i}/samplers/{k}/output"))?;
            }
            for (k, channel) in animation.channels.iter().enumerate() {
                let place = format!("/animations/{i}/channels/{k}");
                item(&animation.samplers, channel.sampler, "samplers", format!("{place}/sampler"))?;
                if let Some(node) = channel.target.node {
                    item(&self.nodes, node, "nodes", format!("{place}/target/node"))?;
                }
            }
        }
        Ok(())
    }
}
