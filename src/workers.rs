//! Work on many items, on as many cores as are wanted.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, available_parallelism};

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

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
    ///
    /// The calling thread works, too: a thread that starts may be on another core, whose processor cache has
    /// nothing of what this one encoded before.
    pub fn gather<T: Send, P: Send + Default>(
        &self,
        items: Vec<T>,
        at_once: usize,
        work: impl Fn(&mut P, usize, T) + Sync,
    ) -> Vec<P> {
        let parts = items.len().div_ceil(at_once);
        let threads = if parts > 1 { self.threads().min(parts) } else { 1 };
        let at_once = if threads > 1 { at_once } else { items.len() };
        let items = Mutex::new(items.into_iter().enumerate());
        let next = || -> Vec<_> {
            let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
            items.by_ref().take(at_once).collect()
        };
        // Parts, each with the index of its first item.
        let work_off = || {
            let mut made = Vec::new();
            loop {
                let items = next();
                let Some(&(first, _)) = items.first() else { return made };
                let mut part = P::default();
                for (index, item) in items {
                    work(&mut part, index, item);
                }
                made.push((first, part));
            }
        };
        let mut made = thread::scope(|scope| {
            // Fewer where the system gives no more.
            let start = |_| thread::Builder::new().spawn_scoped(scope, work_off).ok();
            let others: Vec<_> = (1..threads).map_while(start).collect();
            let mut made = work_off();
            for other in others {
                made.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            made
        });
        made.sort_unstable_by_key(|&(first, _)| first);
        made.into_iter().map(|(_, part)| part).collect()
    }
}
