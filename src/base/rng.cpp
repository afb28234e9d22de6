#include "base/rng.h"

#include <random>

namespace holdfast {

Rng Rng::from_system() {
    std::random_device device;
    return Rng((std::uint64_t{device()} << 32) | device());
}

}  // namespace holdfast
