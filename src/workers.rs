//! Work on many items, on as many cores as are wanted.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::thread::available_parallelism;

#[cfg(feature = "python")]
use rayon::Scope;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads for one call. They end with it: threads that are kept do not live on in a process that
/// forks, as data loaders do, and work given to them there would wait for ever. Starting them costs
/// some 50 µs.
pub(crate) struct Workers {
    threads: usize,
    pool: OnceLock<Option<ThreadPool>>,
}

/// So many threads are started at most, or one for each core where there are more of these. Thousands
/// take minutes to start.
const MOST: usize = 256;

/// So many items are done by one thread at a time.
const ITEMS: usize = 16;

impl Workers {
    /// As many threads as are wanted, or as there are cores. They are started when there is work for
    /// more than one.
    pub(crate) fn new(threads: Option<NonZeroUsize>) -> Self {
        let cores = available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = threads.map_or(cores, NonZeroUsize::get).min(cores.max(MOST));
        Self { threads, pool: OnceLock::new() }
    }

    /// The calling thread does the work.
    #[cfg(feature = "python")]
    pub(crate) fn none() -> Self {
        Self { threads: 1, pool: OnceLock::new() }
    }

    /// How many threads there are.
    #[cfg(feature = "python")]
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Lets a task give work to the threads, which it does not wait for. `None` where there are no others
    /// than the calling thread.
    #[cfg(feature = "python")]
    pub(crate) fn scope<'s, R>(&self, task: impl FnOnce(Option<&Scope<'s>>) -> R) -> R {
        match self.pool(usize::MAX) {
            Some(pool) => pool.in_place_scope(|scope| task(Some(scope))),
            None => task(None),
        }
    }

    /// `None` where the calling thread does the work: of few items, or where the system gives no more
    /// threads.
    fn pool(&self, items: usize) -> Option<&ThreadPool> {
        if self.threads == 1 || items <= ITEMS {
            return None;
        }
        let start = || ThreadPoolBuilder::new().num_threads(self.threads).build().ok();
        self.pool.get_or_init(start).as_ref()
    }

    /// Gathers what `work` makes of items in their order, in parts.
    pub(crate) fn gather<T: Send, P: Send + Default>(
        &self,
        items: Vec<T>,
        work: impl Fn(&mut P, usize, T) + Sync,
    ) -> Vec<P> {
        let add = |mut part: P, (index, item)| {
            work(&mut part, index, item);
            part
        };
        let Some(pool) = self.pool(items.len()) else {
            return vec![items.into_iter().enumerate().fold(P::default(), add)];
        };
        pool.install(|| {
            items.into_par_iter().enumerate().fold_chunks(ITEMS, P::default, add).collect()
        })
    }
}
