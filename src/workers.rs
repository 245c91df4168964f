//! Work on many items, on as many cores as are wanted.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::thread::available_parallelism;

use rayon::Scope;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads for one call. They end with it: threads that are kept do not live on in a process that
/// forks, as data loaders do, and work given to them there would wait for ever. Starting them costs
/// some 50 µs.
pub struct Workers {
    wanted: Option<NonZeroUsize>,
    pool: OnceLock<Option<ThreadPool>>,
}

/// So many threads are started at most, or one for each core where there are more of these. Thousands
/// take minutes to start.
const MOST: usize = 256;

/// So many items that are small are done by one thread at a time.
pub(crate) const ITEMS: usize = 16;

impl Workers {
    /// As many threads as are wanted, or as there are cores. They are started when there is work for
    /// more than one.
    pub fn new(wanted: Option<NonZeroUsize>) -> Self {
        Self { wanted, pool: OnceLock::new() }
    }

    /// The calling thread does the work.
    pub fn none() -> Self {
        Self::new(Some(NonZeroUsize::MIN))
    }

    /// How many threads there are. To ask the system takes 20 µs, so it is not asked for little work.
    pub fn threads(&self) -> usize {
        let cores = || available_parallelism().map_or(1, NonZeroUsize::get);
        match self.wanted.map(NonZeroUsize::get) {
            Some(threads) if threads <= MOST => threads,
            Some(threads) => threads.min(cores().max(MOST)),
            None => cores(),
        }
    }

    /// Lets a task give work to the threads, which it does not wait for. `None` where there are no others
    /// than the calling thread.
    pub fn scope<'s, R>(&self, task: impl FnOnce(Option<&Scope<'s>>) -> R) -> R {
        match self.pool() {
            Some(pool) => pool.in_place_scope(|scope| task(Some(scope))),
            None => task(None),
        }
    }

    /// `None` where the calling thread does the work: it is the only one wanted, or the system gives no
    /// others.
    fn pool(&self) -> Option<&ThreadPool> {
        let start = || {
            let threads = Some(self.threads()).filter(|&threads| threads > 1)?;
            ThreadPoolBuilder::new().num_threads(threads).build().ok()
        };
        self.pool.get_or_init(start).as_ref()
    }

    /// Gathers what `work` makes of items in their order, in parts. A thread does `at_once` of them at a time,
    /// and if there are no more than these, the calling thread does.
    pub(crate) fn gather<T: Send, P: Send + Default>(
        &self,
        items: Vec<T>,
        at_once: usize,
        work: impl Fn(&mut P, usize, T) + Sync,
    ) -> Vec<P> {
        let add = |mut part: P, (index, item)| {
            work(&mut part, index, item);
            part
        };
        let several = items.len() > at_once;
        let Some(pool) = several.then(|| self.pool()).flatten() else {
            return vec![items.into_iter().enumerate().fold(P::default(), add)];
        };
        pool.install(|| {
            items.into_par_iter().enumerate().fold_chunks(at_once, P::default, add).collect()
        })
    }
}
