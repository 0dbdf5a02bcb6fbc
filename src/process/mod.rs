//! The only room that starts programs.
