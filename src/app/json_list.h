#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace holdfast::app {

inline Json list_of(const std::vector<Json>& items) {
    std::string out = "[";
    for (const Json& item : items) out.append(out.size() > 1 ? "," : "").append(item.text());
    return Json::stored(out + ']');
}

}  // namespace holdfast::app
