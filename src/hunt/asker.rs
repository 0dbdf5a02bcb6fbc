//! How a hunt asks the user a question. The command line gives the means; a hunt runs without too.

/// Asks a question; the answer is yes or no, or `None` if nobody can be asked.
pub(crate) type Asker<'a> = &'a dyn Fn(&str) -> Option<bool>;
