/* Sizes, offsets and values that must not move, and the versions. */
#include "check.h"

_Static_assert(sizeof(tocsin_status) == 4, "status");
_Static_assert(sizeof(bool) == 1, "bool");
_Static_assert(sizeof(tocsin_str) == 2 * sizeof(void *), "str");
_Static_assert(sizeof(tocsin_question) == 3 * sizeof(tocsin_str), "question");
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(tocsin_request) == 136, "request");
_Static_assert(offsetof(tocsin_request, kind) == 8 && offsetof(tocsin_request, modern) == 12, "request");
_Static_assert(offsetof(tocsin_request, target) == 16 && offsetof(tocsin_request, user_data) == 128, "request");
_Static_assert(sizeof(tocsin_handler) == 48, "handler");
_Static_assert(offsetof(tocsin_handler, call) == 8 && offsetof(tocsin_handler, flags) == 40, "handler");
_Static_assert(sizeof(tocsin_server_options) == 88, "options");
_Static_assert(offsetof(tocsin_server_options, worker_threads) == 56, "options");
_Static_assert(offsetof(tocsin_server_options, options_json) == 72, "options");
#endif
_Static_assert(TOCSIN_STATUS_OK == 0 && TOCSIN_STATUS_INVALID_ARGUMENT == 1 && TOCSIN_STATUS_INVALID_JSON == 2, "");
_Static_assert(TOCSIN_STATUS_ALREADY_EXISTS == 3 && TOCSIN_STATUS_NOT_FOUND == 4 && TOCSIN_STATUS_CLOSED == 5, "");
_Static_assert(TOCSIN_STATUS_TIMEOUT == 6 && TOCSIN_STATUS_IO == 7 && TOCSIN_STATUS_FORKED == 8, "");
_Static_assert(TOCSIN_STATUS_PANIC == 9 && TOCSIN_STATUS_REENTRANT == 10, "last one added");
_Static_assert(TOCSIN_TOOLS == 1 && TOCSIN_PROMPTS == 2 && TOCSIN_RESOURCES == 4 && TOCSIN_TEMPLATES == 8, "");
_Static_assert(TOCSIN_LEVEL_DEBUG == 0 && TOCSIN_LEVEL_EMERGENCY == 7, "");

int main(void) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", TOCSIN_VERSION_MAJOR, TOCSIN_VERSION_MINOR, TOCSIN_VERSION_PATCH);
    CHECK(strcmp(version, tocsin_version()) == 0);
    CHECK(tocsin_abi_version() == TOCSIN_ABI_VERSION);
    CHECK(tocsin_cstr(NULL).data == NULL && tocsin_cstr(NULL).len == 0 && tocsin_cstr("ab").len == 2);
    return 0;
}
