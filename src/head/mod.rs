//! The procedural head: geometry and named motion fields that every rig's sample is made from.
