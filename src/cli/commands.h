// The commands that ask a server, one file each.
#pragma once

#include "cli/cli.h"

namespace holdfast::cli {

int submit(const Arguments& arguments, Io& io);
int get(const Arguments& arguments, Io& io);
int list(const Arguments& arguments, Io& io);
int history(const Arguments& arguments, Io& io);
int explain(const Arguments& arguments, Io& io);
int cancel(const Arguments& arguments, Io& io);
int pause(const Arguments& arguments, Io& io);
int resume(const Arguments& arguments, Io& io);
int discard(const Arguments& arguments, Io& io);
int signal(const Arguments& arguments, Io& io);
int suspended(const Arguments& arguments, Io& io);
int queues(const Arguments& arguments, Io& io);
int stats(const Arguments& arguments, Io& io);
int instances(const Arguments& arguments, Io& io);
int audit(const Arguments& arguments, Io& io);
int workers(const Arguments& arguments, Io& io);
int bulk(const Arguments& arguments, Io& io);
int failures(const Arguments& arguments, Io& io);
int events(const Arguments& arguments, Io& io);
int work(const Arguments& arguments, Io& io);
int top(const Arguments& arguments, Io& io);

}  // namespace holdfast::cli
