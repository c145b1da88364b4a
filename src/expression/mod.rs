//! Control spaces, their names, and maps between them.
