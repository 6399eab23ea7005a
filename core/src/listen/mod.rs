//! `subscriptions/listen`: filters, subscriptions, and the hub that fans changes out
//! (`basic/patterns/subscriptions`).
//!
//! Delivery is level-triggered. A change says "look again", so a subscription only remembers *that* something changed
//! since its writer last looked: three bits and a set of URIs bounded by its own filter. A slow reader therefore costs
//! constant memory, delays nobody, and still hears of the last change.
#![forbid(unsafe_code)]

mod filter;
mod hub;
mod outbox;
mod subscription;
mod watch;

pub(crate) use filter::{Filter, Honoured};
pub(crate) use hub::Hub;
pub use outbox::{Item, ItemKind, Outbox};
pub(crate) use subscription::Subscription;
pub use watch::WatchFn;

/// The three lists whose changes are announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ListKind {
    /// `tools/list`.
    Tools = 0,
    /// `prompts/list`.
    Prompts = 1,
    /// `resources/list` and `resources/templates/list`.
    Resources = 2,
}

impl ListKind {
    /// All three.
    pub const ALL: [ListKind; 3] = [ListKind::Tools, ListKind::Prompts, ListKind::Resources];

    /// The name that the protocol uses in capabilities and methods.
    pub fn name(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Prompts => "prompts",
            ListKind::Resources => "resources",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<ListKind> {
        ListKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(crate) fn bit(self) -> u8 {
        1 << self as u8
    }
}
