//! The .aosrig container: magic, lengths, header and named blobs.
