#![no_main]
//! Any bytes as a GNM model archive: a value or an error.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = rigeval::gnm::model::GnmModel::read(bytes);
});
