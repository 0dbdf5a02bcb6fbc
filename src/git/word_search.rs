//! Looks for a word in all files of a commit.

use crate::evaluation::CommitId;

use super::{GitError, History};

impl History {
    /// Whether a text file of the commit's tree has this word. False if a partial clone lacks a
    /// file and cannot fetch it. Files of submodules do not count.
    pub(crate) fn has_word(&self, commit: &CommitId, word: &str) -> Result<bool, GitError> {
        let call = self.repository().shared_call().args(["grep", "--quiet", "-I"]);
        let call = call.args(["--no-recurse-submodules", "--fixed-strings", "--word-regexp"]);
        let call = call.args(["-e", word, commit.as_str()]);
        let output = call.run()?;
        let found = if output.code > 1 { Err(call.failed(&output)) } else { Ok(output.code == 0) };
        Ok(GitError::if_readable(found)?.unwrap_or(false))
    }
}

#[cfg(test)]
mod tests {
    use crate::git::tests::Fixture;

    #[test]
    fn a_word_is_found_in_any_file_and_only_as_a_whole() {
        let fixture = Fixture::new();
        let files = [("a.cmake", "set(ENG_FP16 ON)\n"), ("src/k.c", "int mul_mat;\n")];
        let commit = fixture.commit("one", &files);
        let history = fixture.history();
        let found = ["ENG_FP16", "mul_mat", "ENG_FP", "mul"];
        assert_eq!(
            found.map(|word| history.has_word(&commit, word).unwrap()),
            [true, true, false, false]
        );
    }
}
