//! Model -> pack.
