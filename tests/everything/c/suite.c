/* What the public conformance suite asks of a server, under the names that it uses. */
#include "everything.h"

#include <stdio.h>

/* ---- content -------------------------------------------------------------------------------------------------- */

/* One sample of silence. */
#define WAV "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="

/* Answers with the text that is the handler's user_data. */
HANDLER(constant_text) {
    (void)request;
    tocsin_call_complete_text(call, S(user_data));
}

/* Answers with the result that is the handler's user_data. */
HANDLER(constant_result) {
    (void)request;
    tocsin_call_complete(call, S(user_data));
}

static void log_info(tocsin_call *call, const char *json) {
    tocsin_call_log(call, TOCSIN_LEVEL_INFO, S("everything"), S(json));
}

HANDLER(with_logging) {
    (void)request, (void)user_data;
    log_info(call, JSON("Tool execution started"));
    pause_ms(50);
    log_info(call, JSON("Tool processing data"));
    pause_ms(50);
    log_info(call, JSON("Tool execution completed"));
    tocsin_call_complete_text(call, S("Tool with logging executed successfully"));
}

HANDLER(error_handling) {
    (void)request, (void)user_data;
    tocsin_call_fail(call, S("This tool intentionally returns an error for testing"));
}

HANDLER(with_progress) {
    (void)request, (void)user_data;
    for (int step = 0; step <= 100; step += 50) {
        char message[40];
        snprintf(message, sizeof message, "Completed step %d of 100", step);
        pause_ms(step > 0 ? 50 : 0);
        tocsin_call_progress(call, step, 100, S(message));
    }
    tocsin_call_complete_text(call, S("Tool with progress executed successfully"));
}

void add_content_tools(tocsin_server *server) {
    const tool tools[] = {
        {PLAIN("test_simple_text", "Returns one text block."), constant_text, "This is a simple text response for testing.",
         false},
        {PLAIN("test_image_content", "Returns one image block."), constant_result,
         "{\"content\":[{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}]}", false},
        {PLAIN("test_audio_content", "Returns one audio block."), constant_result,
         "{\"content\":[{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}]}", false},
        {PLAIN("test_embedded_resource", "Returns one embedded resource."), constant_result,
         JSON({"content": [{"type": "resource", "resource": {
             "uri": "test://embedded-resource", "mimeType": "text/plain",
             "text": "This is an embedded resource content."
         }}]}), false},
        {PLAIN("test_multiple_content_types", "Returns a text, an image and an embedded resource."), constant_result,
         "{\"content\":[{\"type\":\"text\",\"text\":\"Multiple content types test:\"},"
         "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"},"
         JSON({"type": "resource", "resource": {
             "uri": "test://mixed-content-resource", "mimeType": "application/json",
             "text": "{\"test\":\"data\",\"value\":123}"
         }}) "]}", false},
        {PLAIN("test_tool_with_logging", "Sends three log messages while it runs."), with_logging, NULL, true},
        {PLAIN("test_error_handling", "Always fails."), error_handling, NULL, false},
        {PLAIN("test_tool_with_progress", "Reports progress three times while it runs."), with_progress, NULL, true},
    };
    add_tools(server, tools, sizeof tools / sizeof *tools);
}

/* ---- a schema beyond the usual, and a client that reconnects --------------------------------------------------- */

static const char JSON_SCHEMA[] = JSON({
    "name": "json_schema_2020_12_tool", "description": "Tool with JSON Schema 2020-12 features",
    "inputSchema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    }
});

HANDLER(json_schema) {
    (void)user_data;
    tocsin_text *text = join(PIECES(S("JSON Schema 2020-12 tool called with: ")));
    tocsin_text_add_compact(text, request->arguments);
    tocsin_call_complete_text(call, T(text));
    tocsin_text_free(text);
}

HANDLER(reconnection) {
    (void)request, (void)user_data;
    pause_ms(100);
    tocsin_call_complete_text(call, S("Reconnection test completed successfully"));
}

void add_schema_tools(tocsin_server *server) {
    const tool tools[] = {
        {JSON_SCHEMA, json_schema, NULL, false},
        {PLAIN("test_reconnection", "Closes its response stream and answers after the client reconnects."),
         reconnection, NULL, true},
    };
    add_tools(server, tools, sizeof tools / sizeof *tools);
}

/* ---- changes while somebody looks ----------------------------------------------------------------------------- */

HANDLER(logging) {
    (void)request, (void)user_data;
    log_info(call, JSON("Diagnostic trace logging activated"));
    tocsin_call_complete_text(call, S("Logging evaluated"));
}

/* Adds and removes in one batch: each kind is announced once. */
static void trigger(tocsin_call *call, tocsin_server *server, uint32_t list, const char *name) {
    tocsin_error *error = NULL;
    tocsin_server_hold_changes(server);
    tocsin_status status = add_echo(server, list, S(name), &error);
    if (status == TOCSIN_STATUS_OK) {
        status = tocsin_server_remove(server, list, S(name), &error);
    }
    tocsin_server_release_changes(server);
    if (status == TOCSIN_STATUS_OK) {
        tocsin_call_complete_text(call, S("Mutation triggered"));
    } else {
        tocsin_call_fail(call, tocsin_error_message(error));
        tocsin_error_free(error);
    }
}

HANDLER(trigger_tool) {
    (void)request;
    trigger(call, user_data, TOCSIN_TOOLS, "test_dynamic_tool");
}

HANDLER(trigger_prompt) {
    (void)request;
    trigger(call, user_data, TOCSIN_PROMPTS, "test_dynamic_prompt");
}

void add_change_tools(tocsin_server *server) {
    const tool tools[] = {
        {PLAIN("test_logging_tool", "Sends one log message."), logging, NULL, false},
        {PLAIN("test_trigger_tool_change", "Changes the list of tools and changes it back."), trigger_tool, NULL,
         false},
        {PLAIN("test_trigger_prompt_change", "Changes the list of prompts and changes it back."), trigger_prompt,
         NULL, false},
    };
    add_tools(server, tools, sizeof tools / sizeof *tools);
}

/* ---- prompts, resources, and their completions ---------------------------------------------------------------- */

/* Values for one argument. */
typedef struct choice {
    const char *argument;
    const char *values[5];
    bool in_paris; /* only when arg1 is paris */
} choice;

/* Answers a completion from a table, which is the handler's user_data and ends with a choice without a name. */
HANDLER(complete) {
    tocsin_text *argument = string_at(request->arguments, "/argument/name");
    tocsin_text *begun = string_at(request->arguments, "/argument/value");
    tocsin_text *city = string_at(request->arguments, "/context/arguments/arg1");
    tocsin_str found[16];
    size_t count = 0;
    for (const choice *choice = user_data; choice->argument != NULL; choice++) {
        if (!equal(T(argument), choice->argument) || (choice->in_paris && !equal(T(city), "paris"))) {
            continue;
        }
        for (const char *const *value = choice->values; *value != NULL; value++) {
            if (T(begun).len == 0 || strncmp(*value, T(begun).data, T(begun).len) == 0) {
                found[count++] = S(*value);
            }
        }
    }
    tocsin_call_complete_values(call, found, count);
    tocsin_text_free(argument);
    tocsin_text_free(begun);
    tocsin_text_free(city);
}

static choice CITIES[] = {
    {"arg1", {"paris", "park", "party", "testValue1"}, false},
    {"arg2", {"france"}, true},
    {"arg2", {"world", "testValue2"}, false},
    {NULL, {NULL}, false},
};
static choice URIS[] = {
    {"resourceUri", {"test://static-text", "test://static-binary", "test://watched-resource"}, false},
    {NULL, {NULL}, false},
};
static choice IDS[] = {
    {"id", {"1", "12", "123", "2"}, false},
    {NULL, {NULL}, false},
};

HANDLER(two_arguments) {
    (void)user_data;
    tocsin_text *one = string_at(request->arguments, "/arg1"), *two = string_at(request->arguments, "/arg2");
    COMPLETE(call, S("Prompt with arguments: arg1='"), T(one), S("', arg2='"), T(two), S("'"));
    tocsin_text_free(one);
    tocsin_text_free(two);
}

HANDLER(embedded) {
    (void)user_data;
    tocsin_text *result = join(PIECES(
        S("{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"resource\",\"resource\":{\"uri\":"),
        at(request->arguments, "/resourceUri"),
        S(",\"mimeType\":\"text/plain\",\"text\":\"Embedded resource content for testing.\"}}},"),
        S(JSON({"role": "user", "content": {"type": "text", "text": "Please process the embedded resource above."}})),
        S("]}")));
    tocsin_call_complete(call, T(result));
    tocsin_text_free(result);
}

static void add_prompt(tocsin_server *server, const char *definition, tocsin_handler_fn get, void *data,
                       choice *choices) {
    tocsin_error *error = NULL;
    tocsin_handler handler = {
        .struct_size = sizeof handler, .call = get, .user_data = data, .flags = TOCSIN_HANDLER_INLINE};
    tocsin_handler completer = {
        .struct_size = sizeof completer, .call = complete, .user_data = choices, .flags = TOCSIN_HANDLER_INLINE};
    expect(tocsin_server_add_prompt(server, S(definition), &handler, choices != NULL ? &completer : NULL, &error),
           &error);
}

void add_prompts(tocsin_server *server) {
    add_prompt(server, JSON({"name": "test_simple_prompt", "description": "A prompt without arguments."}), constant_text,
               "This is a simple prompt for testing.", NULL);
    add_prompt(server, JSON({
        "name": "test_prompt_with_arguments", "description": "A prompt with two arguments.",
        "arguments": [
            {"name": "arg1", "description": "First test argument.", "required": true},
            {"name": "arg2", "description": "Second test argument.", "required": true}
        ]
    }), two_arguments, NULL, CITIES);
    add_prompt(server, JSON({
        "name": "test_prompt_with_embedded_resource", "description": "A prompt that embeds a resource.",
        "arguments": [{"name": "resourceUri", "description": "URI of the resource to embed.", "required": true}]
    }), embedded, NULL, URIS);
    add_prompt(server, JSON({"name": "test_prompt_with_image", "description": "A prompt with an image."}), constant_result,
               "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"image\",\"data\":\"" PNG
               "\",\"mimeType\":\"image/png\"}},"
               JSON({"role": "user", "content": {"type": "text", "text": "Please analyze the image above."}}) "]}",
               NULL);
}

HANDLER(static_binary) {
    (void)request, (void)user_data;
    static const unsigned char png[] = {
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00,
        0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xf7,
        0x03, 0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
    };
    tocsin_call_complete_blob(call, (tocsin_str){(const char *)png, sizeof png});
}

HANDLER(document) {
    (void)user_data;
    tocsin_text *id = string_at(request->arguments, "/id"), *text = join(PIECES(S("{\"id\":")));
    tocsin_text_add_json(text, T(id));
    tocsin_text_add(text, S(",\"templateTest\":true,\"data\":"));
    tocsin_text *data = join(PIECES(S("Data for ID: "), T(id)));
    tocsin_text_add_json(text, T(data));
    tocsin_text_add(text, S("}"));
    tocsin_call_complete_text(call, T(text));
    tocsin_text_free(data);
    tocsin_text_free(text);
    tocsin_text_free(id);
}

static void add_resource(tocsin_server *server, const char *definition, tocsin_handler_fn read, void *data) {
    tocsin_error *error = NULL;
    tocsin_handler handler = {
        .struct_size = sizeof handler, .call = read, .user_data = data, .flags = TOCSIN_HANDLER_INLINE};
    expect(tocsin_server_add_resource(server, S(definition), &handler, &error), &error);
}

void add_resources(tocsin_server *server) {
    add_resource(server, JSON({
        "uri": "test://static-text", "name": "static-text", "description": "A text that never changes.",
        "mimeType": "text/plain"
    }), constant_text, "This is the content of the static text resource.");
    add_resource(server, JSON({
        "uri": "test://static-binary", "name": "static-binary", "description": "An image that never changes.",
        "mimeType": "image/png"
    }), static_binary, NULL);
    add_resource(server, JSON({
        "uri": "test://watched-resource", "name": "watched-resource", "description": "A text to subscribe to.",
        "mimeType": "text/plain"
    }), constant_text, "Watched resource content");
    tocsin_error *error = NULL;
    tocsin_handler handler = {.struct_size = sizeof handler, .call = document, .flags = TOCSIN_HANDLER_INLINE};
    tocsin_handler completer = {
        .struct_size = sizeof completer, .call = complete, .user_data = IDS, .flags = TOCSIN_HANDLER_INLINE};
    expect(tocsin_server_add_template(server, S(JSON({
        "uriTemplate": "test://template/{id}/data", "name": "template", "description": "A document for each id.",
        "mimeType": "application/json"
    })), &handler, &completer, &error), &error);
}
