//! How a hunt asks the user a question. The command line supplies the function.

/// Asks a question. The answer is yes or no, or `None` if nobody can answer.
pub(crate) type Asker<'a> = &'a dyn Fn(&str) -> Option<bool>;
