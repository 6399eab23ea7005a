//! What a server offers. Every change is announced to whoever asked to hear of it.
//!
//! A definition is the protocol's Tool, Prompt, Resource or ResourceTemplate object as JSON. Its handler is copied, and
//! its user_data owned, whatever is returned. A tool's arguments are checked against its inputSchema before its handler
//! runs. A template's handler gets the variables of the template as arguments.

use std::sync::Arc;

use tocsin_core::RegistryError;

use crate::boundary::{as_text, guard, guard_value};
use crate::error::{Failure, tocsin_error};
use crate::handler::{Draft, Registered, tocsin_handler};
use crate::library::{tocsin_status, tocsin_str};
use crate::server::{Shared, shared, tocsin_server};

/// The lists of a server, as bits:
pub const TOCSIN_TOOLS: u32 = 1;
pub const TOCSIN_PROMPTS: u32 = 2;
pub const TOCSIN_RESOURCES: u32 = 4;
/// Announced as TOCSIN_RESOURCES.
pub const TOCSIN_TEMPLATES: u32 = 8;

type Entry = Arc<dyn tocsin_core::Handler>;

/// Adds or replaces: reads what C gave, then leaves it to `edit`.
///
/// # Safety
/// All pointers are C's.
unsafe fn define(
    server: *mut tocsin_server,
    definition: tocsin_str,
    handler: *const tocsin_handler,
    completer: *const tocsin_handler,
    error: *mut *mut tocsin_error,
    edit: impl FnOnce(&Shared, &str, Entry, Option<Entry>) -> Result<(), RegistryError>,
) -> tocsin_status {
    // SAFETY: C's structs. Both are taken over before anything can fail.
    let (handler, completer) = unsafe { (Draft::read(handler), Draft::read_optional(completer)) };
    guard(error, || {
        let (handler, completer) = (handler?, completer?);
        // SAFETY: C's handle and text.
        let (shared, definition) = unsafe { (shared(server)?, as_text(definition)?) };
        let finish = |draft: Draft| -> Result<Entry, Failure> {
            Ok(Arc::new(Registered(draft.finish(&shared.pool, &shared.gate)?)))
        };
        let (handler, completer) = (finish(handler)?, completer.map(finish).transpose()?);
        Ok(edit(&shared, definition, handler, completer)?)
    })
}

/// Adds a tool at the end of the list. TOCSIN_STATUS_ALREADY_EXISTS, TOCSIN_STATUS_INVALID_JSON: error says why, and
/// nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_add_tool(
    server: *mut tocsin_server,
    definition: tocsin_str,
    handler: *const tocsin_handler,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    // SAFETY: C's pointers.
    unsafe {
        define(server, definition, handler, std::ptr::null(), error, |shared, definition, handler, _| {
            shared.server.tools().add_shared(definition, handler)
        })
    }
}

/// Adds a prompt. completer, which may be NULL, answers completions of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_add_prompt(
    server: *mut tocsin_server,
    definition: tocsin_str,
    handler: *const tocsin_handler,
    completer: *const tocsin_handler,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    // SAFETY: C's pointers.
    unsafe {
        define(server, definition, handler, completer, error, |shared, definition, handler, completer| {
            shared.server.prompts().add_shared(definition, handler, completer)
        })
    }
}

/// Adds a resource.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_add_resource(
    server: *mut tocsin_server,
    definition: tocsin_str,
    handler: *const tocsin_handler,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    // SAFETY: C's pointers.
    unsafe {
        define(server, definition, handler, std::ptr::null(), error, |shared, definition, handler, _| {
            shared.server.resources().add_shared(definition, handler)
        })
    }
}

/// Adds a resource template. completer, which may be NULL, answers completions of its variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_add_template(
    server: *mut tocsin_server,
    definition: tocsin_str,
    handler: *const tocsin_handler,
    completer: *const tocsin_handler,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    // SAFETY: C's pointers.
    unsafe {
        define(server, definition, handler, completer, error, |shared, definition, handler, completer| {
            shared.server.templates().add_shared(definition, handler, completer)
        })
    }
}

/// Puts a tool in the place of the one of that name; calls in flight end with the old one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_replace_tool(
    server: *mut tocsin_server,
    definition: tocsin_str,
    handler: *const tocsin_handler,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    // SAFETY: C's pointers.
    unsafe {
        define(server, definition, handler, std::ptr::null(), error, |shared, definition, handler, _| {
            shared.server.tools().replace_shared(definition, handler)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_replace_prompt(
    server: *mut tocsin_server,
    definition: tocsin_str,
    handler: *const tocsin_handler,
    completer: *const tocsin_handler,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    // SAFETY: C's pointers.
    unsafe {
        define(server, definition, handler, completer, error, |shared, definition, handler, completer| {
            shared.server.prompts().replace_shared(definition, handler, completer)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_replace_resource(
    server: *mut tocsin_server,
    definition: tocsin_str,
    handler: *const tocsin_handler,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    // SAFETY: C's pointers.
    unsafe {
        define(server, definition, handler, std::ptr::null(), error, |shared, definition, handler, _| {
            shared.server.resources().replace_shared(definition, handler)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_replace_template(
    server: *mut tocsin_server,
    definition: tocsin_str,
    handler: *const tocsin_handler,
    completer: *const tocsin_handler,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    // SAFETY: C's pointers.
    unsafe {
        define(server, definition, handler, completer, error, |shared, definition, handler, completer| {
            shared.server.templates().replace_shared(definition, handler, completer)
        })
    }
}

/// One list of a server, chosen by its bit.
macro_rules! on_list {
    ($server:expr, $list:expr, $method:ident, $key:expr) => {
        match $list {
            TOCSIN_TOOLS => Ok($server.tools().$method($key)),
            TOCSIN_PROMPTS => Ok($server.prompts().$method($key)),
            TOCSIN_RESOURCES => Ok($server.resources().$method($key)),
            TOCSIN_TEMPLATES => Ok($server.templates().$method($key)),
            _ => Err(Failure::argument(
                "list must be one of TOCSIN_TOOLS, TOCSIN_PROMPTS, TOCSIN_RESOURCES and TOCSIN_TEMPLATES",
            )),
        }
    };
}

/// Removes the tool or prompt of that name, the resource of that URI, or that template; list is one of TOCSIN_TOOLS to
/// TOCSIN_TEMPLATES. Calls in flight go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_remove(
    server: *mut tocsin_server,
    list: u32,
    key: tocsin_str,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    guard(error, || {
        // SAFETY: C's handle and text.
        let (shared, key) = unsafe { (shared(server)?, as_text(key)?) };
        Ok(on_list!(shared.server, list, remove, key)??)
    })
}

/// Hides an entry: it is neither listed nor served.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_disable(
    server: *mut tocsin_server,
    list: u32,
    key: tocsin_str,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    guard(error, || {
        // SAFETY: C's handle and text.
        let (shared, key) = unsafe { (shared(server)?, as_text(key)?) };
        Ok(on_list!(shared.server, list, disable, key)??)
    })
}

/// Shows an entry again, in its old place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_enable(
    server: *mut tocsin_server,
    list: u32,
    key: tocsin_str,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    guard(error, || {
        // SAFETY: C's handle and text.
        let (shared, key) = unsafe { (shared(server)?, as_text(key)?) };
        Ok(on_list!(shared.server, list, enable, key)??)
    })
}

/// Whether an entry is there, enabled or not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_contains(server: *const tocsin_server, list: u32, key: tocsin_str) -> bool {
    guard_value(false, || {
        // SAFETY: C's handle and text.
        let (shared, key) = unsafe { (shared(server)?, as_text(key)?) };
        on_list!(shared.server, list, contains, key)
    })
}
