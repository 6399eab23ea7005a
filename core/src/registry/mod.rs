//! Tools, prompts, resources and resource templates: ordered, versioned, paged, and announced when they change.
#![forbid(unsafe_code)]

mod collection;
mod cursor;
mod definition;
mod entry;
mod feed;
mod names;
mod schema;
mod template;

use std::sync::Arc;

pub(crate) use collection::{Collection, PageRequest};
pub(crate) use entry::{Entry, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
pub(crate) use feed::Feed;
pub(crate) use schema::Violation;

use crate::listen::Hub;

/// Why an edit was refused. The text is fit for a tool error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// An entry of that key is there already.
    #[error("{kind} '{key}' already exists")]
    AlreadyExists {
        /// `tool`, `prompt`, `resource` or `resource template`.
        kind: &'static str,
        /// Name or URI.
        key: String,
    },
    /// No entry of that key is there.
    #[error("no {kind} '{key}'")]
    NotFound {
        /// `tool`, `prompt`, `resource` or `resource template`.
        kind: &'static str,
        /// Name or URI.
        key: String,
    },
    /// The definition cannot be served.
    #[error("{kind} '{key}' cannot be added: {reason}")]
    Invalid {
        /// `tool`, `prompt`, `resource` or `resource template`.
        kind: &'static str,
        /// Name or URI, empty if it has none.
        key: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
}

/// All that a server offers.
pub(crate) struct Registry {
    pub tools: Collection<ToolEntry>,
    pub prompts: Collection<PromptEntry>,
    pub resources: Collection<ResourceEntry>,
    pub templates: Collection<TemplateEntry>,
    pub feed: Arc<Feed>,
}

impl Registry {
    pub fn new(hub: Arc<Hub>, page_size: usize) -> Registry {
        let feed = Arc::new(Feed::new(hub));
        Registry {
            tools: Collection::new(Arc::clone(&feed), page_size),
            prompts: Collection::new(Arc::clone(&feed), page_size),
            resources: Collection::new(Arc::clone(&feed), page_size),
            templates: Collection::new(Arc::clone(&feed), page_size),
            feed,
        }
    }

    /// The resource or the first template that serves `uri`, with the template's variables.
    pub fn resolve(&self, uri: &str) -> Option<Resolved> {
        if let Some(entry) = self.resources.get(uri) {
            return Some(Resolved::Resource(entry));
        }
        self.templates
            .find(|entry| entry.template.matches(uri))
            .map(|(entry, variables)| Resolved::Template(entry, variables))
    }
}

/// What a URI stands for.
pub(crate) enum Resolved {
    Resource(Arc<ResourceEntry>),
    Template(Arc<TemplateEntry>, Vec<(String, String)>),
}
