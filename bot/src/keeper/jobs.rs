//! Stored jobs of people who are being forgotten: from before anything is deleted until nothing is left.

use crate::ports::{ForgetJobs, JobStep};
use crate::stores::StoreError;

/// A person who is being forgotten.
#[derive(Debug)]
pub struct StoredForgetJob {
    pub id: i64,
    /// The next step.
    pub step: JobStep,
}

impl StoredForgetJob {
    /// Stores a job; it is durable when this returns.
    pub async fn begin(step: JobStep, jobs: &dyn ForgetJobs) -> Result<StoredForgetJob, StoreError> {
        Ok(StoredForgetJob { id: jobs.begin(step.clone()).await?, step })
    }

    pub async fn go_on_with(&mut self, step: JobStep, jobs: &dyn ForgetJobs) -> Result<(), StoreError> {
        jobs.go_on(self.id, step.clone()).await?;
        self.step = step;
        Ok(())
    }
}

/// Notes that something was deleted whose old pages have to leave the files.
pub async fn settle_later(jobs: &dyn ForgetJobs) -> Result<(), StoreError> {
    jobs.begin(JobStep::Settle).await.map(drop)
}
