//! Work on many items, on as many cores as are wanted.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads for one call. They end with it: threads that are kept do not live on in a process that
/// forks, as data loaders do, and work given to them there would wait for ever. Starting them costs
/// some 50 µs.
pub(crate) struct Workers(Option<ThreadPool>);

/// So many items are done by one thread at a time.
const ITEMS: usize = 32;

impl Workers {
    /// Threads for so many items, at most `threads` of them, or as many as there are cores. The calling
    /// thread does all the work where one is enough, or where the system gives no more.
    pub(crate) fn new(items: usize, threads: Option<NonZeroUsize>) -> Self {
        let threads = threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let threads = threads.min(items.div_ceil(ITEMS));
        let pool = (threads > 1).then(|| ThreadPoolBuilder::new().num_threads(threads).build());
        Self(pool.and_then(Result::ok))
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
        let Some(pool) = &self.0 else {
            return vec![items.into_iter().enumerate().fold(P::default(), add)];
        };
        pool.install(|| {
            items.into_par_iter().enumerate().fold_chunks(ITEMS, P::default, add).collect()
        })
    }
}
