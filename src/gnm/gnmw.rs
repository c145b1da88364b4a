//! The GNMW web container, both dialects.
