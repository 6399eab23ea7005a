#include <string.h>
#include <tocsin.h>

#define STR(text) ((tocsin_str){text, strlen(text)})

static void forecast(tocsin_call *call, const tocsin_request *request, void *user_data) {
    (void)user_data;
    tocsin_str city;
    tocsin_text *text;
    if (tocsin_json_get(request->arguments, STR("/city"), &city) != TOCSIN_STATUS_OK ||
        tocsin_text_new(&text) != TOCSIN_STATUS_OK) {
        tocsin_call_drop(call);
        return;
    }
    tocsin_text_add(text, STR("Rain in "));
    tocsin_text_add_unquoted(text, city);
    tocsin_text_add(text, STR("."));
    tocsin_call_complete_text(call, tocsin_text_str(text));
    tocsin_text_free(text);
}

static void warning(tocsin_call *call, const tocsin_request *request, void *user_data) {
    (void)request, (void)user_data;
    tocsin_call_complete_text(call, STR("Stay at home!"));
}

static void storm(tocsin_call *call, const tocsin_request *request, void *user_data) {
    (void)request;
    tocsin_handler handler = {.struct_size = sizeof handler, .call = warning};
    tocsin_str tool = STR("{\"name\":\"warning\",\"description\":\"The storm warning.\"}");
    if (tocsin_server_add_tool(user_data, tool, &handler, NULL) == TOCSIN_STATUS_OK)
        tocsin_call_complete_text(call, STR("A storm comes up."));
    else
        tocsin_call_fail(call, STR("The storm is here already."));
}

int main(void) {
    tocsin_server_options options = {.struct_size = sizeof options, .name = STR("weather"), .version = STR("1.0")};
    tocsin_server *server;
    if (tocsin_server_new(&options, &server, NULL) != TOCSIN_STATUS_OK) return 1;

    tocsin_handler handler = {.struct_size = sizeof handler, .call = forecast};
    tocsin_server_add_tool(server, STR("{\"name\":\"forecast\",\"description\":\"The weather of a city.\","
        "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}}"),
        &handler, NULL);
    handler.call = storm;
    handler.user_data = server;
    tocsin_server_add_tool(server, STR("{\"name\":\"storm\","
        "\"description\":\"A storm comes up: adds a tool, and every client hears of it.\"}"), &handler, NULL);

    tocsin_status status = tocsin_serve_stdio(server, NULL);
    tocsin_server_free(server);
    return status == TOCSIN_STATUS_OK ? 0 : 1;
}
