//! How the basis lies in GPU memory.
