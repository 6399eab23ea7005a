/* The JSON helpers. */
#include "check.h"

int main(void) {
    const tocsin_str json = S("{\"a\": {\"b/c\": [1, \"two \\u2605 \\\"x\\\"\", {\"~\": null}]}, \"n\": 9007199254740993}");
    tocsin_str value = NONE;
    OK(tocsin_json_get(json, S("/a/b~1c/0"), &value));
    CHECK(same(value, "1") && value.data > json.data && value.data < json.data + json.len);
    OK(tocsin_json_get(json, NONE, &value));
    CHECK(value.len == json.len);
    OK(tocsin_json_get(json, S("/a/b~1c/2/~0"), &value));
    CHECK(same(value, "null"));
    CHECK(tocsin_json_get(json, S("/a/b~1c/3"), &value) == TOCSIN_STATUS_NOT_FOUND);
    CHECK(tocsin_json_get(S("{\"a\":"), S("/a"), &value) == TOCSIN_STATUS_INVALID_JSON);
    CHECK(tocsin_json_get(json, S("a"), &value) == TOCSIN_STATUS_INVALID_ARGUMENT);

    int64_t whole = 0;
    OK(tocsin_json_get(json, S("/n"), &value));
    OK(tocsin_json_int(value, &whole));
    CHECK(whole == INT64_C(9007199254740993));
    OK(tocsin_json_int(S("-9223372036854775808"), &whole));
    CHECK(whole == INT64_MIN);
    CHECK(tocsin_json_int(S("9223372036854775808"), &whole) == TOCSIN_STATUS_INVALID_JSON);
    CHECK(tocsin_json_int(S("\"1\""), &whole) == TOCSIN_STATUS_INVALID_JSON);
    double number = 0;
    OK(tocsin_json_double(S("2.5e1"), &number));
    CHECK(number == 25);

    tocsin_text *text = NULL;
    OK(tocsin_text_new(&text));
    CHECK(tocsin_text_str(text).len == 0);
    OK(tocsin_json_get(json, S("/a/b~1c/1"), &value));
    OK(tocsin_text_add_unquoted(text, value));
    CHECK(same(tocsin_text_str(text), "two \u2605 \"x\""));
    CHECK(tocsin_text_add_unquoted(text, S("1")) == TOCSIN_STATUS_INVALID_JSON);
    CHECK(tocsin_text_add(text, S("\xff")) == TOCSIN_STATUS_INVALID_ARGUMENT);
    CHECK(same(tocsin_text_str(text), "two \u2605 \"x\""));
    CHECK(tocsin_text_cut(text, 5) == TOCSIN_STATUS_INVALID_ARGUMENT);
    OK(tocsin_text_cut(text, 4));
    OK(tocsin_text_add_json(text, S("\"\\\n\x01\u2605")));
    CHECK(same(tocsin_text_str(text), "two \"\\\"\\\\\\n\\u0001\u2605\""));
    OK(tocsin_text_cut(text, 0));
    OK(tocsin_text_add_compact(text, S(" { \"a b\" : [ 1 , 2.50 ] } ")));
    CHECK(same(tocsin_text_str(text), "{\"a b\":[1,2.50]}"));
    CHECK(tocsin_text_add_compact(text, S("{")) == TOCSIN_STATUS_INVALID_JSON);
    OK(tocsin_text_cut(text, 1000));
    CHECK(tocsin_text_str(text).len == 16);
    tocsin_text_free(text);
    return 0;
}
