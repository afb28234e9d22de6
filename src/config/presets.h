// Own retry presets: the tables [presets.NAME] of a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/toml_file.h"
#include "domain/policy.h"

namespace holdfast::config {

struct PresetKey {
    std::string_view name;
    std::string_view allowed;
    std::string_view text;
};
/// What may stand in such a table, for the reference and for "did you mean".
const std::vector<PresetKey>& preset_keys();

struct ReadPresets {
    std::vector<domain::Preset> presets;
    std::vector<std::string> sources;   ///< Where each begins: "holdfast.toml:12".
    std::vector<std::string> problems;  ///< Each with its source; then `presets` is not to be used.
};
/// Of all entries of a file those that stand under [presets].
ReadPresets read_presets(const std::vector<Entry>& entries);

}  // namespace holdfast::config
