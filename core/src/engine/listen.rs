//! `subscriptions/listen`: from the request to an open subscription (`basic/patterns/subscriptions`).

use std::sync::Arc;

use crate::listen::{Filter, Subscription};
use crate::protocol::meta::{SERVER_INFO, SUBSCRIPTION_ID};
use crate::protocol::{ErrorObject, Id};

use super::call::CallInner;
use super::session::InFlight;
use super::{Channel, Engine, Session};

/// The result that ends a subscription from the server's side.
pub(super) fn complete_text(engine: &Engine, id: &Id) -> String {
    let id = id.token();
    let info = engine.options.server_info(None);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\",\"_meta\":\
         {{\"{SUBSCRIPTION_ID}\":{id},\"{SERVER_INFO}\":{info}}}}}}}"
    )
}

/// Opens a subscription for what is honoured of `filter`.
pub(super) fn open(session: &Arc<Session>, channel: &Channel, id: &Id, filter: Filter) -> Result<(), ErrorObject> {
    establish(session, channel, id, filter, |subscription, filter| {
        session.begin(id, InFlight::Listen(Arc::clone(subscription), filter.clone())).map(|()| true)
    })
}

/// The hook accepted: the call becomes the subscription, unless it was cancelled meanwhile.
pub(super) fn accept(call: &Arc<CallInner>) -> Result<(), ErrorObject> {
    let (session, channel) = (&call.session, &call.channel);
    let max = session.engine.options.max_uris_per_subscription;
    let filter = Filter::parse(Some(call.arguments()), max)?;
    establish(session, channel, &call.id, filter, |subscription, filter| {
        Ok(call.close_with(|| session.promote(call, subscription, filter)))
    })
}

fn establish(
    session: &Arc<Session>,
    channel: &Channel,
    id: &Id,
    filter: Filter,
    begin: impl FnOnce(&Arc<Subscription>, &Filter) -> Result<bool, ErrorObject>,
) -> Result<(), ErrorObject> {
    let filter = filter.honoured(session.engine.honoured(session.transport));
    let subscription = Subscription::new(Some(id.token()), Arc::clone(channel.outbox()));
    if !begin(&subscription, &filter)? {
        return Ok(());
    }
    if filter.is_empty() {
        // It could never deliver, so it is not held open.
        subscription.acknowledge(&filter);
        session.end_subscription(id, &subscription);
        return Ok(());
    }
    let hub = &session.engine.hub;
    if hub.register(&subscription, &filter).is_err() {
        session.forget_subscription(id, &subscription);
        return Err(ErrorObject::internal(format!(
            "{} subscriptions are open, the bound of this server (max_subscriptions); try again later",
            hub.cap()
        )));
    }
    subscription.acknowledge(&filter);
    // A server that began to stop meanwhile has not seen this one.
    if session.engine.is_stopping() {
        session.end_subscription(id, &subscription);
    }
    Ok(())
}
