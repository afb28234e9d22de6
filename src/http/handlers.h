// Every handler: reads the request, makes one call, renders what came of it. The rules are elsewhere.
#pragma once

#include "http/call.h"

namespace holdfast::http {

// producers.cpp
Answer submit(Call call);
Answer get_task(Call call);
Answer get_history(Call call);
Answer get_explanation(Call call);
Answer get_revisions(Call call);
Answer list_tasks(Call call);
Answer signal_task(Call call);

// acts.cpp
Answer cancel_task(Call call);
Answer pause_task(Call call);
Answer resume_task(Call call);
Answer discard_task(Call call);
Answer start_bulk(Call call);
Answer get_bulk(Call call);
Answer pause_bulk(Call call);
Answer resume_bulk(Call call);
Answer stop_bulk(Call call);
Answer list_suspended(Call call);
Answer resume_suspended(Call call);
Answer discard_suspended(Call call);

// search.cpp
Answer get_facets(Call call);
Answer list_failures(Call call);
Answer get_failure(Call call);
Answer list_bulk(Call call);

// workers.cpp
Answer claim(Call call);
Answer complete(Call call);
Answer fail(Call call);
Answer checkpoint(Call call);
Answer yield(Call call);
Answer heartbeat(Call call);

// operators.cpp
Answer list_queues(Call call);
Answer get_queue(Call call);
Answer pause_queue(Call call);
Answer resume_queue(Call call);
Answer close_queue(Call call);
Answer open_queue(Call call);
Answer limit_queue(Call call);
Answer get_stats(Call call);
Answer list_workers(Call call);
Answer drain_worker(Call call);

// watching.cpp
Answer get_series(Call call);
Answer list_audit(Call call);
Answer reveal_task(Call call);

// system.cpp
Answer get_health(Call call);
Answer get_readiness(Call call);
Answer get_metrics(Call call);
Answer get_openapi(Call call);
Answer get_doctor(Call call);
Answer list_instances(Call call);
Answer get_config(Call call);

// ---- the dashboard ----
Answer get_page(Call call);
Answer get_asset(Call call);

}  // namespace holdfast::http
