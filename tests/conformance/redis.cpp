#include "redis_fixture.h"

HOLDFAST_CONFORMANCE(redis, one_server("redis", {}));
