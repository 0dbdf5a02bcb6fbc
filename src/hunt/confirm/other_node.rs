//! A confirmation on another node of the cluster than the search, if `[executor] confirm` asks for
//! it: then the claim does not rest on one node alone.

use crate::config::ConfirmNode;
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::store::journal::Event;

impl Driver<'_> {
    /// Before the first fresh run of a claim that depends on the speed of the node: ends this job,
    /// so that the confirmation takes place in the next one, which Slurm begins on another node.
    /// There the good endpoint is measured first (`node_change`). If no other node is left, the
    /// next job may be here; it confirms the claim.
    ///
    /// # Errors
    /// [`HuntError::LeavesNode`] if the hunt goes on on another node.
    pub(super) fn leave_to_confirm(&mut self, claim: Claim<'_>) -> Result<(), HuntError> {
        let slurm = self.oracle.recipes.config.executor.slurm.as_ref();
        let is_asked = slurm.is_some_and(|slurm| slurm.confirm == ConfirmNode::Other);
        if !is_asked || !self.needs_one_node(claim.targets) {
            return Ok(());
        }
        let entries = self.hunt.entries_in_force()?;
        let has_left = entries.iter().any(|entry| match &entry.event {
            Event::ConfirmsElsewhere { commit, .. } => commit == claim.commit,
            _ => false,
        });
        if has_left {
            return Ok(());
        }
        let (node, commit) = (self.oracle.host().to_owned(), claim.commit.clone());
        let text = format!(
            "the search ran on node {node}, so {} and its parents are measured afresh on another \
             node",
            commit.short()
        );
        self.oracle.recorder.event(Event::Note { text: text.clone() })?;
        self.oracle.recorder.event(Event::ConfirmsElsewhere { commit, node })?;
        Err(HuntError::LeavesNode(text))
    }
}
