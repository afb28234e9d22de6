// Prints docs/reference/config.md from the table in config/options.cpp:
//     build/release/tools/render_config > docs/reference/config.md
#include <cstdio>

#include "config/config.h"

int main() {
    std::fputs(holdfast::config::reference().c_str(), stdout);
    return 0;
}
