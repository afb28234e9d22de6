// `holdfast bench`: measures a server that is there, or one that it starts for this.
#pragma once

#include <string>
#include <vector>

namespace holdfast::app {

int bench(const std::vector<std::string>& args);

}  // namespace holdfast::app
