//! An open doubt about a named commit: something that neither runs nor tests exclude. The commit
//! stays named, with less confidence. These are the doubts, each with the file that finds it:
//!
//! - No test of the newer end tells whether that end needs the commit: a later commit may have
//!   undone the change, and another one made the same again (`localize/pairs` in noise and
//!   `localize/own_lines`; `outcome/untested` if later commits were not measured either).
//! - Later commits name what the commit adds, and some have no verdict: one of them may have
//!   switched it off, and another one on again (`outcome/namings`).
//! - In a hunt for a fix, no test tells what the bad end shows with the fix: an earlier commit may
//!   have fixed the same, and another one broken it again (`outcome/untested`).
//! - In a hunt for a fix in noise, what the named fixes leave may be more than the tolerance
//!   (`outcome/untested`).
//! - No test tells whether the bad end is good again without all named commits: another commit may
//!   make a part too (`localize/remnant`).
//! - Neither levels nor the source exclude that a later commit took the whole step back
//!   (`outcome/doubts`); or, in noise, the runs of a later commit leave that open
//!   (`outcome/undoing`).
//! - Other commits gained back as much as its whole step, and no test tells whether the newer end
//!   needs it (`outcome/gained_back`).
//! - Files in the home folder may carry results from one commit to another: the confirmation needs
//!   the user's home folder, or a file changed that an empty one has too; or the hunt began again
//!   with an empty one, without the user's settings (`confirm/home`).
//! - The value comes from another place of the output since this commit, and the ends have
//!   different places too: the numbers before and after may be of different things
//!   (`confirm/other_place`).
//! - The step is one unit of the last printed digit, so rounding may hide steps of earlier commits
//!   (`confirm/resolution`).
//! - The commit changes a pointer of Git LFS, and builds or runs may have read it in place of the
//!   file (`confirm/pointers`).
//! - Builds or runs ask git for branches or tags of HEAD, and tests with a modified tree say
//!   nothing for this reason, or a tag alone may make the step (`localize/own_head`).
//! - Builds or runs ask for the commit's name, and each measured commit shows another value
//!   (`localize/head_name`).
//! - The runs load an installed copy in place of the commit's file, which differs between the ends,
//!   beside other code of the commit (`endpoints/installed_copies`).
//! - Files changed in the git folder that all worktrees share, while builds or runs went on
//!   (`git_folder`).
//! - Runs opened files that git tracks and that their build wrote, after these were put back
//!   (`put_back`).
//! - The runs do not tell whether two commits fail at one rate (`confirm/rates_at_ends`).

use crate::evaluation::Culprit;

/// Maximum confidence in a named commit with an open doubt. The number is a convention, not an
/// estimate: nobody knows how often such a doubt is right.
pub(crate) const MOST_CERTAIN: f64 = 0.98;

/// Lowers the confidence in a commit with an open doubt.
pub(crate) fn lower_confidence(culprit: &mut Culprit) {
    culprit.confidence = culprit.confidence.min(MOST_CERTAIN);
}
