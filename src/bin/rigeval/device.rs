//! What evaluates: the CPU path, or a GPU.

use crate::failure::Failure;
use clap::ValueEnum;
use rigeval::error::DeviceError;
use rigeval::gpu::headless::{AdapterChoice, Headless};

/// `--device`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    /// A hardware GPU, else the CPU path.
    Auto,
    /// Any adapter, a software one too; an error without one.
    Gpu,
    /// The CPU path.
    Cpu,
}

/// What evaluates.
pub enum Device {
    /// The CPU path.
    Cpu,
    /// An open device.
    Gpu(Box<Headless>),
}

impl Device {
    /// Opens what was asked for.
    pub fn open(choice: DeviceChoice) -> Result<Device, Failure> {
        let opened = match choice {
            DeviceChoice::Cpu => return Ok(Device::Cpu),
            // A software adapter is much slower than the CPU path: it runs only when it is asked for.
            DeviceChoice::Auto => Headless::new(AdapterChoice::Hardware),
            DeviceChoice::Gpu => Headless::new(AdapterChoice::Any),
        };
        match (opened, choice) {
            (Ok(gpu), _) => Ok(Device::Gpu(Box::new(gpu))),
            (Err(_), DeviceChoice::Auto) => Ok(Device::Cpu),
            (Err(DeviceError::NoAdapter { .. }), _) => Err(Failure::new(
                "no GPU adapter: install a Vulkan driver (mesa-vulkan-drivers has a software one) or take --device cpu",
            )),
            (Err(error), _) => Err(Failure::new(error)),
        }
    }

    /// Any adapter, for what only a GPU can do.
    pub fn for_pictures() -> Result<Device, Failure> {
        match Headless::new(AdapterChoice::Any) {
            Ok(gpu) => Ok(Device::Gpu(Box::new(gpu))),
            Err(DeviceError::NoAdapter { .. }) => Err(Failure::new(
                "no GPU adapter, and pictures need one: install a Vulkan driver (mesa-vulkan-drivers has a software one)",
            )),
            Err(error) => Err(Failure::new(error)),
        }
    }

    /// `cpu` or `gpu`.
    pub fn name(&self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Gpu(_) => "gpu",
        }
    }

    /// The adapter, where there is one.
    pub fn adapter(&self) -> Option<String> {
        match self {
            Device::Cpu => None,
            Device::Gpu(gpu) => {
                let facts = gpu.facts();
                let software = if facts.is_software { ", a software adapter" } else { "" };
                Some(format!("{} ({}{software})", facts.name, facts.backend))
            }
        }
    }

    /// For text reports.
    pub fn describe(&self) -> String {
        match self.adapter() {
            None => "the CPU path".to_string(),
            Some(adapter) => format!("the GPU {adapter}"),
        }
    }

    /// How a comparison names this code path.
    pub fn source(&self) -> String {
        format!("rigeval {} {}", self.name(), env!("CARGO_PKG_VERSION"))
    }
}
