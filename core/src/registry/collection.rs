//! One ordered list of entries: edits, look-ups, and pages that are serialized once.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::protocol::{ErrorObject, Revision, json};

use super::entry::Entry;
use super::feed::Feed;
use super::{RegistryError, cursor};

/// Pages kept at most; a list has few first pages, and each cursor needs one.
const MAX_CACHED_PAGES: usize = 256;

struct Slot<E> {
    entry: Arc<E>,
    enabled: bool,
}

struct Inner<E> {
    slots: BTreeMap<u64, Slot<E>>,
    by_key: HashMap<Arc<str>, u64>,
    next: u64,
    /// Grows with every edit; a cached page is of one generation.
    generation: u64,
}

#[derive(Default)]
struct Pages {
    generation: u64,
    by_place: HashMap<(String, u64), Page>,
}

/// The result of a list request as JSON text, shared by all who ask for the same page.
pub(crate) type Page = Arc<str>;

/// Which page, in which shape.
pub(crate) struct PageRequest<'a> {
    pub cursor: Option<&'a str>,
    pub revision: &'a Revision,
    /// Members that end the result, each with a comma before it (`resultType`, hints, `_meta`).
    pub tail: &'a str,
}

/// Entries in order of insertion, each with a sequence number that stays when it is replaced.
pub(crate) struct Collection<E> {
    inner: RwLock<Inner<E>>,
    pages: Mutex<Pages>,
    page_size: usize,
    feed: Arc<Feed>,
}

impl<E: Entry> Collection<E> {
    pub fn new(feed: Arc<Feed>, page_size: usize) -> Self {
        let inner = Inner { slots: BTreeMap::new(), by_key: HashMap::new(), next: 1, generation: 0 };
        Collection { inner: RwLock::new(inner), pages: Mutex::default(), page_size, feed }
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner<E>> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner<E>> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_found(key: &str) -> RegistryError {
        RegistryError::NotFound { kind: E::KIND, key: key.to_owned() }
    }

    /// Commits an edit, then announces it.
    fn edit(&self, f: impl FnOnce(&mut Inner<E>) -> Result<bool, RegistryError>) -> Result<(), RegistryError> {
        let mut inner = self.write();
        let changed = f(&mut inner)?;
        inner.generation += u64::from(changed);
        drop(inner);
        if changed {
            self.feed.list_changed(E::LIST);
        }
        Ok(())
    }

    /// Adds an entry at the end.
    pub fn add(&self, entry: E) -> Result<(), RegistryError> {
        let entry = Arc::new(entry);
        // Borrowed, so that a refused entry is dropped after the lock is gone.
        self.edit(|inner| {
            let key: Arc<str> = entry.key().into();
            if inner.by_key.contains_key(&key) {
                return Err(RegistryError::AlreadyExists { kind: E::KIND, key: key.to_string() });
            }
            let seq = inner.next;
            inner.next += 1;
            inner.by_key.insert(key, seq);
            inner.slots.insert(seq, Slot { entry: Arc::clone(&entry), enabled: true });
            Ok(true)
        })
    }

    /// Puts an entry in the place of the one with the same key.
    pub fn replace(&self, entry: E) -> Result<(), RegistryError> {
        let mut entry = Arc::new(entry);
        // Swapped, so that the old entry is dropped after the lock is gone.
        self.edit(|inner| {
            let slot = inner.by_key.get(entry.key()).and_then(|seq| inner.slots.get_mut(seq));
            let slot = slot.ok_or_else(|| Self::not_found(entry.key()))?;
            std::mem::swap(&mut slot.entry, &mut entry);
            Ok(true)
        })
    }

    /// Takes an entry out.
    pub fn remove(&self, key: &str) -> Result<(), RegistryError> {
        let mut removed = None;
        let result = self.edit(|inner| {
            let seq = inner.by_key.remove(key).ok_or_else(|| Self::not_found(key))?;
            removed = inner.slots.remove(&seq);
            Ok(true)
        });
        // A handler's destructor is the host's code: it runs after the lock is gone.
        drop(removed);
        result
    }

    /// Hides an entry, or shows it again; it keeps its place. What is so already is left alone.
    pub fn set_enabled(&self, key: &str, enabled: bool) -> Result<(), RegistryError> {
        self.edit(|inner| {
            let slot = inner.by_key.get(key).and_then(|seq| inner.slots.get_mut(seq));
            let slot = slot.ok_or_else(|| Self::not_found(key))?;
            Ok(std::mem::replace(&mut slot.enabled, enabled) != enabled)
        })
    }

    /// The enabled entry of that key.
    pub fn get(&self, key: &str) -> Option<Arc<E>> {
        let inner = self.read();
        let slot = inner.slots.get(inner.by_key.get(key)?)?;
        slot.enabled.then(|| Arc::clone(&slot.entry))
    }

    /// Whether an entry of that key is there, enabled or not.
    pub fn contains(&self, key: &str) -> bool {
        self.read().by_key.contains_key(key)
    }

    /// Keys in order, of enabled entries and others.
    pub fn keys(&self) -> Vec<String> {
        self.read().slots.values().map(|slot| slot.entry.key().to_owned()).collect()
    }

    /// The first enabled entry for which `f` has an answer.
    pub fn find<T>(&self, f: impl Fn(&E) -> Option<T>) -> Option<(Arc<E>, T)> {
        let inner = self.read();
        let mut enabled = inner.slots.values().filter(|slot| slot.enabled);
        enabled.find_map(|slot| f(&slot.entry).map(|found| (Arc::clone(&slot.entry), found)))
    }

    /// Drops all entries without a word, when the server is gone; handlers may hold the server itself.
    pub fn clear(&self) {
        let mut inner = self.write();
        let slots = std::mem::take(&mut inner.slots);
        inner.by_key.clear();
        drop(inner);
        drop(slots);
    }

    /// The page that a list request asks for (`server/utilities/pagination`).
    pub fn page(&self, request: &PageRequest<'_>) -> Result<Page, ErrorObject> {
        let after = match request.cursor {
            None => 0,
            Some(text) => cursor::read(E::METHOD, text).ok_or_else(|| {
                ErrorObject::invalid_params("params.cursor is not a cursor of this list; begin again without one")
            })?,
        };
        let inner = self.read();
        let place = (request.revision.name.clone(), after);
        {
            let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
            if pages.generation == inner.generation
                && let Some(page) = pages.by_place.get(&place)
            {
                return Ok(Arc::clone(page));
            }
        }
        let page: Page = self.serialize(&inner, after, request).into();
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.generation != inner.generation || pages.by_place.len() >= MAX_CACHED_PAGES {
            pages.generation = inner.generation;
            pages.by_place.clear();
        }
        pages.by_place.insert(place, Arc::clone(&page));
        Ok(page)
    }

    fn serialize(&self, inner: &Inner<E>, after: u64, request: &PageRequest<'_>) -> String {
        let mut out = format!("{{\"{}\":[", E::METHOD);
        let mut rest = inner.slots.range((Bound::Excluded(after), Bound::Unbounded)).filter(|(_, slot)| slot.enabled);
        let mut last = after;
        for (index, (seq, slot)) in rest.by_ref().take(self.page_size).enumerate() {
            if index > 0 {
                out.push(',');
            }
            slot.entry.write(&request.revision.features, &mut out);
            last = *seq;
        }
        out.push(']');
        if rest.next().is_some() {
            out.push_str(",\"nextCursor\":");
            json::write_string(&mut out, &cursor::mint(E::METHOD, last));
        }
        out.push_str(request.tail);
        out.push('}');
        out
    }
}
