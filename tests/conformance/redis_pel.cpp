// Tasks that failed keep their entry pending, and are handed out again by reclaiming it.
#include "redis_fixture.h"

HOLDFAST_CONFORMANCE(redis_pel, one_server("redis_pel", {.pel_queues = {"*"}}));
