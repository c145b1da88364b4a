#![no_main]
//! Any bytes as one array: a value or an error.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = rigeval::npy::read(bytes);
});
