/* Callbacks run with no lock held: they may change what is offered, and so may drops. A handler that blocks holds up
 * neither the client nor other handlers. */
#include "check.h"

static tocsin_server *server;

HANDLER(finish) { (void)request, (void)user_data; OK(tocsin_call_complete_text(call, S("done"))); }

/* A drop that edits the very list that drops it. */
static void edit_again(void *user_data) {
    (void)user_data;
    CHECK(!tocsin_server_contains(server, TOCSIN_TOOLS, S("no such tool")));
    CHECK(tocsin_server_remove(server, TOCSIN_TOOLS, S("no such tool"), NULL) == TOCSIN_STATUS_NOT_FOUND);
    OK(tocsin_server_lists_changed(server, TOCSIN_TOOLS));
    OK(tocsin_server_resource_updated(server, S("a:b")));
    OK(tocsin_server_on_watch(server, NULL, NULL, NULL));
}
static void watched(tocsin_str uri, bool active, void *user_data) {
    (void)uri, (void)active, (void)user_data;
    OK(tocsin_server_lists_changed(server, TOCSIN_PROMPTS));
    OK(tocsin_server_on_watch(server, NULL, NULL, NULL));
}

HANDLER(edit) {
    (void)request, (void)user_data;
    add_tool(server, "other", (tocsin_handler){.call = finish, .drop = edit_again});
    tocsin_handler again = {.struct_size = sizeof again, .call = finish, .drop = edit_again};
    CHECK(tocsin_server_add_tool(server, S(JSON({"name": "other", "inputSchema": {"type": "object"}})), &again, NULL) ==
          TOCSIN_STATUS_ALREADY_EXISTS);
    OK(tocsin_server_replace_tool(server, S(JSON({"name": "other", "inputSchema": {"type": "object"}})), &again, NULL));
    OK(tocsin_server_disable(server, TOCSIN_TOOLS, S("other"), NULL));
    OK(tocsin_server_enable(server, TOCSIN_TOOLS, S("other"), NULL));
    OK(tocsin_server_on_watch(server, watched, NULL, edit_again));
    OK(tocsin_server_on_listen(server, &again, NULL));
    OK(tocsin_server_on_listen(server, NULL, NULL));
    OK(tocsin_server_remove(server, TOCSIN_TOOLS, S("other"), NULL));
    /* Itself, while it runs. */
    OK(tocsin_server_remove(server, TOCSIN_TOOLS, request->target, NULL));
    OK(tocsin_call_complete_text(call, S("edited")));
}

static gate blocked = GATE, unblock = GATE;
HANDLER(block) {
    (void)request, (void)user_data;
    open_gate(&blocked);
    wait_gate(&unblock, 1);
    OK(tocsin_call_complete_text(call, S("blocked")));
}
static pthread_t feeder;
HANDLER(where) {
    (void)request;
    CHECK((bool)pthread_equal(pthread_self(), feeder) == (user_data != NULL));
    OK(tocsin_call_complete_text(call, S("where")));
}

int main(void) {
    server = new_server();
    add_inline(server, "edit_inline", edit, NULL);
    add_function(server, "edit_pool", edit, NULL);
    client *client = connect_to(server);
    call_tool(client, 1, "edit_inline", "{}");
    EXPECT(client, TEXT("edited"));
    call_tool(client, 2, "edit_pool", "{}");
    EXPECT(client, TEXT("edited"));
    call_tool(client, 3, "edit_pool", "{}");
    EXPECT(client, "\"code\":-32602");

    feeder = pthread_self();
    add_function(server, "block", block, NULL);
    add_inline(server, "inline", where, server);
    add_function(server, "pool", where, NULL);
    call_tool(client, 4, "block", "{}");
    wait_gate(&blocked, 1);
    call_tool(client, 5, "inline", "{}");
    EXPECT(client, TEXT("where"));
    call_tool(client, 6, "pool", "{}");
    EXPECT(client, TEXT("where"));
    barrier(client);
    open_gate(&unblock);
    EXPECT(client, TEXT("blocked"));
    disconnect(client);
    tocsin_server_free(server);
    return 0;
}
