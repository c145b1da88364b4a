//! Pictures: what they show, and that they stay as they are.
#![cfg(feature = "picture")]

#[path = "../common/mod.rs"]
mod common;
mod golden;
mod properties;
mod studio;
