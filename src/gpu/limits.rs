//! The limit planner: says before any GPU call which device limit a rig with this many instances would break.

use crate::error::LimitError;

/// The product of the factors, or `u64::MAX` where that does not fit: more than any device has, so that it is refused and not wrapped.
#[must_use]
pub fn size_of(factors: &[u64]) -> u64 {
    factors.iter().fold(1, |product, &f| product.saturating_mul(f))
}

/// Checks needs against the limits of one device.
#[derive(Debug, Clone, Copy)]
pub struct Planner<'a> {
    limits: &'a wgpu::Limits,
}

impl<'a> Planner<'a> {
    /// A planner for a device of these limits.
    #[must_use]
    pub fn new(limits: &'a wgpu::Limits) -> Planner<'a> {
        Planner { limits }
    }

    /// A storage buffer of `bytes`, bound whole.
    ///
    /// # Errors
    /// `max_buffer_size`, `max_storage_buffer_binding_size`.
    pub fn storage(&self, what: &str, bytes: u64) -> Result<(), LimitError> {
        at_most("max_storage_buffer_binding_size", what, bytes, self.limits.max_storage_buffer_binding_size)?;
        at_most("max_buffer_size", what, bytes, self.limits.max_buffer_size)
    }

    /// A uniform buffer of `bytes`, bound whole.
    ///
    /// # Errors
    /// `max_buffer_size`, `max_uniform_buffer_binding_size`.
    pub fn uniform(&self, what: &str, bytes: u64) -> Result<(), LimitError> {
        at_most("max_uniform_buffer_binding_size", what, bytes, self.limits.max_uniform_buffer_binding_size)?;
        at_most("max_buffer_size", what, bytes, self.limits.max_buffer_size)
    }

    /// The bindings of one compute stage.
    ///
    /// # Errors
    /// `max_bind_groups`, `max_storage_buffers_per_shader_stage`, `max_uniform_buffers_per_shader_stage`.
    pub fn bindings(&self, what: &str, groups: u32, storage: u32, uniform: u32) -> Result<(), LimitError> {
        let limits = self.limits;
        at_most("max_bind_groups", what, groups.into(), limits.max_bind_groups.into())?;
        let (name, most) = ("max_storage_buffers_per_shader_stage", limits.max_storage_buffers_per_shader_stage);
        at_most(name, what, storage.into(), most.into())?;
        let (name, most) = ("max_uniform_buffers_per_shader_stage", limits.max_uniform_buffers_per_shader_stage);
        at_most(name, what, uniform.into(), most.into())
    }

    /// A workgroup of `invocations` along x that shares `bytes`.
    ///
    /// # Errors
    /// `max_compute_invocations_per_workgroup`, `max_compute_workgroup_size_x`, `max_compute_workgroup_storage_size`.
    pub fn workgroup(&self, what: &str, invocations: u32, bytes: u32) -> Result<(), LimitError> {
        let limits = self.limits;
        let (name, most) = ("max_compute_invocations_per_workgroup", limits.max_compute_invocations_per_workgroup);
        at_most(name, what, invocations.into(), most.into())?;
        let (name, most) = ("max_compute_workgroup_size_x", limits.max_compute_workgroup_size_x);
        at_most(name, what, invocations.into(), most.into())?;
        let (name, most) = ("max_compute_workgroup_storage_size", limits.max_compute_workgroup_storage_size);
        at_most(name, what, bytes.into(), most.into())
    }

    /// A dispatch of `x` by `y` workgroups.
    ///
    /// # Errors
    /// `max_compute_workgroups_per_dimension`.
    pub fn dispatch(&self, what: &str, x: u64, y: u64) -> Result<(), LimitError> {
        let most = self.limits.max_compute_workgroups_per_dimension.into();
        at_most("max_compute_workgroups_per_dimension", &format!("{what}, along x"), x, most)?;
        at_most("max_compute_workgroups_per_dimension", &format!("{what}, along y"), y, most)
    }
}

fn at_most(limit: &'static str, what: &str, needed: u64, available: u64) -> Result<(), LimitError> {
    if needed <= available { Ok(()) } else { Err(LimitError { limit, what: what.into(), needed, available }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_of_what_does_not_fit_is_the_largest_number() {
        assert_eq!(size_of(&[3, 17_821, 12]), 641_556);
        assert_eq!(size_of(&[u64::MAX / 2, 3]), u64::MAX);
        assert_eq!(size_of(&[]), 1);
    }

    type Check = fn(&Planner) -> Result<(), LimitError>;
    type Shrink = fn(&mut wgpu::Limits);

    #[test]
    fn each_limit_exceeded_is_named_with_both_numbers() {
        let cases: [(&str, Shrink, Check, u64, u64); 10] = [
            (
                "max_storage_buffer_binding_size",
                |l| l.max_storage_buffer_binding_size = 99,
                |p| p.storage("a", 100),
                100,
                99,
            ),
            ("max_buffer_size", |l| l.max_buffer_size = 99, |p| p.storage("a", 100), 100, 99),
            (
                "max_uniform_buffer_binding_size",
                |l| l.max_uniform_buffer_binding_size = 99,
                |p| p.uniform("a", 100),
                100,
                99,
            ),
            ("max_bind_groups", |l| l.max_bind_groups = 1, |p| p.bindings("a", 2, 7, 2), 2, 1),
            (
                "max_storage_buffers_per_shader_stage",
                |l| l.max_storage_buffers_per_shader_stage = 6,
                |p| p.bindings("a", 2, 7, 2),
                7,
                6,
            ),
            (
                "max_uniform_buffers_per_shader_stage",
                |l| l.max_uniform_buffers_per_shader_stage = 1,
                |p| p.bindings("a", 2, 7, 2),
                2,
                1,
            ),
            (
                "max_compute_invocations_per_workgroup",
                |l| l.max_compute_invocations_per_workgroup = 128,
                |p| p.workgroup("a", 256, 0),
                256,
                128,
            ),
            (
                "max_compute_workgroup_size_x",
                |l| l.max_compute_workgroup_size_x = 64,
                |p| p.workgroup("a", 256, 0),
                256,
                64,
            ),
            (
                "max_compute_workgroup_storage_size",
                |l| l.max_compute_workgroup_storage_size = 1000,
                |p| p.workgroup("a", 1, 1001),
                1001,
                1000,
            ),
            ("max_compute_workgroups_per_dimension", |_| (), |p| p.dispatch("a", 3, 65_536), 65_536, 65_535),
        ];
        for (limit, shrink, check, needed, available) in cases {
            let mut limits = wgpu::Limits::defaults();
            let most = check(&Planner::new(&limits));
            shrink(&mut limits);
            let error = check(&Planner::new(&limits)).expect_err(limit);
            assert_eq!((error.limit, error.needed, error.available), (limit, needed, available));
            assert!(
                most.is_ok() || limit == "max_compute_workgroups_per_dimension",
                "{limit} is refused at the defaults"
            );
        }
    }
}
