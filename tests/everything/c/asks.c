/* Handlers that ask the client: the user, the model, or for its roots. Each is written once, for both eras. */
#include "everything.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- reading answers ------------------------------------------------------------------------------------------ */

/* The value at KEY and then at a pointer. */
static tocsin_str under(tocsin_str answers, const char *key, const char *pointer) {
    tocsin_text *path = join(PIECES(S("/"), S(key), S(pointer)));
    tocsin_str value = {NULL, 0};
    tocsin_json_get(answers, T(path), &value);
    tocsin_text_free(path);
    return value;
}

static bool accepted(tocsin_str answers, const char *key) {
    return equal(under(answers, key, "/action"), "\"accept\"");
}

/* What the user wrote into a field, such as "/name". */
static tocsin_text *field(tocsin_str answers, const char *key, const char *name) {
    tocsin_str value = at(under(answers, key, "/content"), name);
    tocsin_text *text = new_text();
    if (!accepted(answers, key) || tocsin_text_add_unquoted(text, value) != TOCSIN_STATUS_OK) {
        tocsin_text_add(text, S("unknown"));
    }
    return text;
}

/* What the model said: the first text block. */
static tocsin_text *said(tocsin_str answers, const char *key) {
    tocsin_str content = under(answers, key, "/content"), block = content;
    for (unsigned i = 0; content.len > 0; i++) {
        if (content.data[0] == '[') {
            char pointer[16];
            snprintf(pointer, sizeof pointer, "/%u", i);
            block = at(content, pointer);
        }
        if (equal(at(block, "/type"), "\"text\"")) {
            return string_at(block, "/text");
        }
        if (block.len == 0 || content.data[0] != '[') {
            break;
        }
    }
    return join(PIECES(S("no text")));
}

static tocsin_str root(tocsin_str answers, unsigned index) {
    char pointer[40];
    snprintf(pointer, sizeof pointer, "/client_roots/roots/%u/uri", index);
    return at(answers, pointer);
}

/* ---- asking --------------------------------------------------------------------------------------------------- */

#define FORM(message, properties, required)                                                                         \
    "{\"message\":\"" message "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":" properties required "}}"
#define ONE_STRING(message, name) \
    FORM(message, "{\"" name "\":{\"type\":\"string\"}}", ",\"required\":[\"" name "\"]")
#define CONFIRM FORM("Please confirm", "{\"ok\":{\"type\":\"boolean\"}}", ",\"required\":[\"ok\"]")
#define SAY(text, tokens)                                                                                          \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text "\"}}],\"maxTokens\":" tokens "}"

#define USER "elicitation/create"
#define MODEL "sampling/createMessage"

static tocsin_question question(const char *key, const char *method, tocsin_str params) {
    return (tocsin_question){S(key), S(method), params};
}

/* Asks one question, and goes on with a piece of data of its own. */
static void ask(tocsin_call *call, tocsin_question question, tocsin_asked_fn then, void *user_data) {
    tocsin_call_ask(call, &question, 1, then, user_data, NULL);
}

/* What goes on after a question. When there is no answer the call fails with the text that says why; a call that was
 * suspended is NULL, which is ignored. */
#define THEN(name)                                                                                                  \
    static void name##_answered(tocsin_call *call, tocsin_str answers, void *user_data);                            \
    static void name(tocsin_call *call, int32_t outcome, tocsin_str answers, void *user_data) {                     \
        if (outcome == TOCSIN_ASKED_ANSWERED) {                                                                     \
            name##_answered(call, answers, user_data);                                                              \
        } else {                                                                                                    \
            tocsin_call_fail(call, answers);                                                                        \
        }                                                                                                           \
    }                                                                                                               \
    static void name##_answered(tocsin_call *call, tocsin_str answers, void *user_data)

/* ---- forms ---------------------------------------------------------------------------------------------------- */

/* Answers with what the model said. user_data is the key, a NUL, and what to say before. */
THEN(say_it) {
    const char *key = user_data, *before = key + strlen(key) + 1;
    tocsin_text *text = said(answers, key);
    COMPLETE(call, S(before), T(text));
    tocsin_text_free(text);
}

HANDLER(sampling) {
    (void)user_data;
    tocsin_text *params = join(PIECES(
        S("{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"),
        at(request->arguments, "/prompt"), S("}}],\"maxTokens\":100}")));
    ask(call, question("sample", MODEL, T(params)), say_it, "sample\0LLM response: ");
    tocsin_text_free(params);
}

/* Answers with what the user did; user_data as above. */
THEN(tell_action) {
    const char *key = user_data, *before = key + strlen(key) + 1;
    tocsin_text *action = new_text(), *content = new_text();
    tocsin_text_add_unquoted(action, under(answers, key, "/action"));
    tocsin_str given = under(answers, key, "/content");
    tocsin_text_add_compact(content, given.len > 0 && !equal(given, "null") ? given : S("{}"));
    COMPLETE(call, S(before), S(" action="), T(action), S(", content="), T(content));
    tocsin_text_free(action);
    tocsin_text_free(content);
}

HANDLER(elicitation) {
    (void)user_data;
    tocsin_text *params = join(PIECES(
        S("{\"message\":"), at(request->arguments, "/message"), S(",\"requestedSchema\":"),
        S(JSON({
            "type": "object",
            "properties": {
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"}
            },
            "required": ["username", "email"]
        })), S("}")));
    ask(call, question("user", USER, T(params)), tell_action, "user\0User response:");
    tocsin_text_free(params);
}

static char DEFAULTS[] = JSON({"message": "Please review the form", "requestedSchema": {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {
            "type": "string", "description": "User status", "enum": ["active", "inactive", "pending"],
            "default": "active"
        },
        "verified": {"type": "boolean", "description": "Verification status", "default": true}
    }
}});

static char ENUMS[] = JSON({"message": "Please choose", "requestedSchema": {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": [
            {"const": "value1", "title": "First Option"},
            {"const": "value2", "title": "Second Option"},
            {"const": "value3", "title": "Third Option"}
        ]},
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": [
            {"const": "value1", "title": "First Choice"},
            {"const": "value2", "title": "Second Choice"},
            {"const": "value3", "title": "Third Choice"}
        ]}}
    }
}});

HANDLER(form) {
    (void)request;
    ask(call, question("form", USER, S(user_data)), tell_action, "form\0Elicitation completed:");
}

void add_form_tools(tocsin_server *server) {
    const tool tools[] = {
        {JSON({"name": "test_sampling", "description": "Asks the client's model.", "inputSchema": {
             "type": "object",
             "properties": {"prompt": {"type": "string", "description": "What to ask the model."}},
             "required": ["prompt"]
         }}), sampling, NULL, false},
        {JSON({"name": "test_elicitation", "description": "Asks the user for a name and an address.", "inputSchema": {
             "type": "object",
             "properties": {"message": {"type": "string", "description": "What to show to the user."}},
             "required": ["message"]
         }}), elicitation, NULL, false},
        {PLAIN("test_elicitation_sep1034_defaults", "Asks the user with a form that has defaults."), form, DEFAULTS,
         false},
        {PLAIN("test_elicitation_sep1330_enums", "Asks the user with a form that has every kind of enum."), form,
         ENUMS, false},
    };
    add_tools(server, tools, sizeof tools / sizeof *tools);
}

/* ---- a capability, and a report before the question ----------------------------------------------------------- */

/* Answers with user_data, whatever the client said. */
THEN(finish) {
    (void)answers;
    tocsin_call_complete_text(call, S(user_data));
}

HANDLER(missing_capability) {
    (void)request, (void)user_data;
    ask(call, question("sample", MODEL, S(SAY("Say yes.", "10"))), finish, "Success");
}

HANDLER(streaming_elicitation) {
    (void)request, (void)user_data;
    tocsin_call_progress(call, 50, 100, (tocsin_str){NULL, 0});
    ask(call, question("confirm", USER, S(CONFIRM)), finish, "Streaming complete");
}

void add_stream_tools(tocsin_server *server) {
    const tool tools[] = {
        {PLAIN("test_missing_capability", "Needs a client that offers sampling."), missing_capability, NULL, false},
        {PLAIN("test_streaming_elicitation", "Reports progress, then asks the user."), streaming_elicitation, NULL,
         false},
    };
    add_tools(server, tools, sizeof tools / sizeof *tools);
}

/* ---- one round, several questions, several rounds ------------------------------------------------------------- */

THEN(greet) {
    (void)user_data;
    tocsin_text *name = field(answers, "user_name", "/name");
    COMPLETE(call, S("Hello, "), T(name), S("!"));
    tocsin_text_free(name);
}

HANDLER(input_elicitation) {
    (void)request, (void)user_data;
    ask(call, question("user_name", USER, S(ONE_STRING("What is your name?", "name"))), greet, NULL);
}

HANDLER(input_sampling) {
    (void)request, (void)user_data;
    ask(call, question("capital_question", MODEL, S(SAY("What is the capital of France?", "100"))), say_it,
        "capital_question\0Sampling result: ");
}

THEN(list_roots) {
    (void)user_data;
    tocsin_text *list = new_text();
    unsigned count = 0;
    for (; root(answers, count).len > 0; count++) {
        tocsin_text_add(list, S(count == 0 ? ": " : ", "));
        tocsin_text_add_unquoted(list, root(answers, count));
    }
    char found[40];
    snprintf(found, sizeof found, "Found %u root(s)", count);
    COMPLETE(call, S(found), T(list));
    tocsin_text_free(list);
}

HANDLER(input_roots) {
    (void)request, (void)user_data;
    ask(call, question("client_roots", "roots/list", S("{}")), list_roots, NULL);
}

THEN(confirmed) {
    bool yes = accepted(answers, "confirm") && equal(under(answers, "confirm", "/content/ok"), "true");
    tocsin_call_complete_text(call, S(yes ? user_data : "not confirmed"));
}

HANDLER(input_confirm) {
    (void)request;
    ask(call, question("confirm", USER, S(CONFIRM)), confirmed, user_data);
}

THEN(tell_all) {
    (void)user_data;
    tocsin_text *name = field(answers, "user_name", "/name"), *greeting = said(answers, "greeting");
    unsigned roots = 0;
    while (root(answers, roots).len > 0) {
        roots++;
    }
    char count[24];
    snprintf(count, sizeof count, "%u", roots);
    COMPLETE(call, S("Name: "), T(name), S("; Greeting: "), T(greeting), S("; Roots: "), S(count));
    tocsin_text_free(name);
    tocsin_text_free(greeting);
}

HANDLER(input_multiple) {
    (void)request, (void)user_data;
    const tocsin_question questions[] = {
        question("user_name", USER, S(ONE_STRING("What is your name?", "name"))),
        question("greeting", MODEL, S(SAY("Generate a greeting", "50"))),
        question("client_roots", "roots/list", S("{}")),
    };
    tocsin_call_ask(call, questions, 3, tell_all, NULL, NULL);
}

static void free_name(void *name) { tocsin_text_free(name); }

THEN(second_step) {
    tocsin_text *color = field(answers, "step2", "/color");
    COMPLETE(call, S("Multi-round complete for "), T(user_data), S(" who likes "), T(color));
    tocsin_text_free(color);
}

THEN(first_step) {
    (void)user_data;
    tocsin_question next = question("step2", USER, S(ONE_STRING("Step 2: What is your favorite color?", "color")));
    tocsin_call_ask(call, &next, 1, second_step, field(answers, "step1", "/name"), free_name);
}

HANDLER(input_rounds) {
    (void)request, (void)user_data;
    ask(call, question("step1", USER, S(ONE_STRING("Step 1: What is your name?", "name"))), first_step, NULL);
}

HANDLER(input_capabilities) {
    (void)request, (void)user_data;
    tocsin_question questions[2];
    size_t count = 0;
    if (tocsin_call_can_ask(call, S(USER))) {
        questions[count++] = question("elicit_input", USER, S(ONE_STRING("Elicitation input", "value")));
    }
    if (tocsin_call_can_ask(call, S(MODEL))) {
        questions[count++] = question("sample_input", MODEL, S(SAY("Sample request", "50")));
    }
    if (count == 0) {
        tocsin_call_complete_text(call, S("No supported capabilities declared"));
        return;
    }
    static char both[] = "capabilities-ok: received elicit_input,sample_input";
    static char user[] = "capabilities-ok: received elicit_input", model[] = "capabilities-ok: received sample_input";
    char *done = count == 2 ? both : equal(questions[0].key, "elicit_input") ? user : model;
    tocsin_call_ask(call, questions, count, finish, done, NULL);
}

void add_round_tools(tocsin_server *server) {
    const tool tools[] = {
        {PLAIN("test_input_required_result_elicitation", "Asks the user for a name."), input_elicitation, NULL, false},
        {PLAIN("test_input_required_result_sampling", "Asks the client's model for a capital."), input_sampling, NULL,
         false},
        {PLAIN("test_input_required_result_list_roots", "Asks for the client's roots."), input_roots, NULL, false},
        {PLAIN("test_input_required_result_request_state",
               "Asks the user to confirm; the state travels with the client."),
         input_confirm, "state-ok: requestState validated", false},
        {PLAIN("test_input_required_result_multiple_inputs", "Asks the user, the model and for the roots at once."),
         input_multiple, NULL, false},
        {PLAIN("test_input_required_result_multi_round", "Asks the user twice, one question after the other."),
         input_rounds, NULL, false},
        {PLAIN("test_input_required_result_tampered_state", "Asks the user to confirm; a changed state is refused."),
         input_confirm, "integrity-ok: state verified", false},
        {PLAIN("test_input_required_result_capabilities", "Asks only what the client can answer."),
         input_capabilities, NULL, false},
    };
    add_tools(server, tools, sizeof tools / sizeof *tools);
}

THEN(tell_context) {
    (void)user_data;
    tocsin_text *context = field(answers, "user_context", "/context");
    COMPLETE(call, S("Prompt with context: "), T(context));
    tocsin_text_free(context);
}

HANDLER(input_prompt) {
    (void)request, (void)user_data;
    ask(call, question("user_context", USER, S(ONE_STRING("What context should the prompt use?", "context"))),
        tell_context, NULL);
}

void add_asking_prompt(tocsin_server *server) {
    tocsin_error *error = NULL;
    tocsin_handler handler = {.struct_size = sizeof handler, .call = input_prompt, .flags = TOCSIN_HANDLER_INLINE};
    expect(tocsin_server_add_prompt(server, S(JSON({
        "name": "test_input_required_result_prompt", "description": "A prompt that asks the user for its context."
    })), &handler, NULL, &error), &error);
}
