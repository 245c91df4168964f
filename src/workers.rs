//! Work on many items, on as many cores as requested.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, available_parallelism};

/// Threads for one call. They end with it: permanent threads do not survive a fork, which data loaders use, so work
/// given to them in the child would wait forever. Starting threads costs about 50 µs.
pub struct Workers {
    wanted: Option<NonZeroUsize>,
}

/// The most threads to start, unless there are more cores. Thousands take minutes to start.
const MOST: usize = 256;

/// The number of small items that a thread does at a time.
pub(crate) const ITEMS: usize = 16;

impl Workers {
    /// The requested number of threads, or one per core. They are started when there is work for more than one.
    pub fn new(wanted: Option<NonZeroUsize>) -> Self {
        Self { wanted }
    }

    /// The calling thread does the work.
    pub fn none() -> Self {
        Self::new(Some(NonZeroUsize::MIN))
    }

    /// The number of threads. Asking the system takes 20 µs, so it is not asked for little work.
    pub fn threads(&self) -> usize {
        let cores = || available_parallelism().map_or(1, NonZeroUsize::get);
        match self.wanted.map(NonZeroUsize::get) {
            Some(threads) if threads <= MOST => threads,
            Some(threads) => threads.min(cores().max(MOST)),
            None => cores(),
        }
    }

    /// Lets a task send jobs to the threads without waiting; all are done when this returns. The task gets `None` if
    /// there is only the calling thread, because no more were requested or the system has no more.
    pub fn scope<J: FnOnce() + Send, R>(&self, task: impl FnOnce(Option<&Sender<J>>) -> R) -> R {
        let (sender, jobs) = channel::<J>();
        // The threads own the receiver: after the last one has panicked, jobs are dropped, and nothing waits for them.
        let jobs = Arc::new(Mutex::new(jobs));
        thread::scope(move |scope| {
            let start = |_| {
                let jobs = Arc::clone(&jobs);
                let next = move || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let work_off = move || std::iter::from_fn(|| next().ok()).for_each(|job| job());
                thread::Builder::new().spawn_scoped(scope, work_off).ok()
            };
            let threads = Some(self.threads()).filter(|&threads| threads > 1).unwrap_or_default();
            let started = (0..threads).map_while(start).count();
            drop(jobs);
            let made = task((started > 0).then_some(&sender));
            // The threads end when no job is left.
            drop(sender);
            made
        })
    }

    /// Gathers the results of `work` in the order of the items, in parts. A thread does `at_once` items at a time; if
    /// there are no more, the calling thread does them.
    ///
    /// The calling thread works, too: a new thread may be on another core, whose processor cache lacks the data that
    /// this one used before.
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
            // Fewer if the system has no more.
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
