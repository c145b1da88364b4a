//! Where the files of a bundle come from, and the one rule for paths inside it.
