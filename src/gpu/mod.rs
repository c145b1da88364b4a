//! Device plumbing that knows no rig.
