//! What else differs between a commit and its parent, besides the source as such: what their
//! builds were configured with and what the change itself says by name.
//!
//! *Invariant:* no IO here. Texts come in, facts and differences go out; who reads a file or asks
//! git is another room's.

mod constants;
mod spelling;

pub use constants::constants;
pub use spelling::pathspecs;
