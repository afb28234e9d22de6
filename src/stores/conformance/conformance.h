// The conformance suite: every promise of stores/store.h, held against any backend.
//
//     // tests/conformance/memory.cpp
//     Backend memory() { return {"memory", all_but({Ability::reopen}), open_memory}; }
//     HOLDFAST_CONFORMANCE(memory, memory());
//
// and link with holdfast_conformance and GTest::gtest_main. A case is named after the promise it
// holds the backend to; one that needs an ability the backend lacks is skipped with its name. A
// binary in which no case of the backend really ran fails.
#pragma once

#include <gtest/gtest.h>

#include "stores/conformance/backend.h"
#include "stores/conformance/suite.h"

namespace holdfast::stores::conformance {

class Commit : public Suite {};
class Appends : public Area<Ability::logs> {};
class Counters : public Area<Ability::counters> {};
class Bindings : public Area<Ability::bindings> {};
class Permits : public Area<Ability::permits> {};
class Gates : public Area<Ability::permits> {};
class Claims : public Suite {};
class Renewals : public Suite {};
class Loads : public Suite {};
class Timers : public Suite {};
class Lists : public Area<Ability::list> {};
class Counts : public Area<Ability::stats> {};
class Histories : public Area<Ability::history> {};
class Feed : public Area<Ability::feed> {};
class Trim : public Area<Ability::trim> {};
class StoreClock : public Suite {};
class LostReplies : public Suite {};
class OtherKinds : public Area<Ability::other_kinds> {};
class Models : public Suite {};

}  // namespace holdfast::stores::conformance

#define HOLDFAST_CONFORMANCE_AREA(prefix, area, backend)               \
    INSTANTIATE_TEST_SUITE_P(prefix, area, ::testing::Values(backend), \
                             [](const auto& info) { return info.param.name; })

/// Runs the whole suite against `backend`. Stands outside of any namespace, once per backend.
#define HOLDFAST_CONFORMANCE(prefix, backend)                \
    namespace holdfast::stores::conformance {                \
    HOLDFAST_CONFORMANCE_AREA(prefix, Commit, backend);      \
    HOLDFAST_CONFORMANCE_AREA(prefix, Appends, backend);     \
    HOLDFAST_CONFORMANCE_AREA(prefix, Counters, backend);    \
    HOLDFAST_CONFORMANCE_AREA(prefix, Bindings, backend);    \
    HOLDFAST_CONFORMANCE_AREA(prefix, Permits, backend);     \
    HOLDFAST_CONFORMANCE_AREA(prefix, Gates, backend);       \
    HOLDFAST_CONFORMANCE_AREA(prefix, Claims, backend);      \
    HOLDFAST_CONFORMANCE_AREA(prefix, Renewals, backend);    \
    HOLDFAST_CONFORMANCE_AREA(prefix, Loads, backend);       \
    HOLDFAST_CONFORMANCE_AREA(prefix, Timers, backend);      \
    HOLDFAST_CONFORMANCE_AREA(prefix, Lists, backend);       \
    HOLDFAST_CONFORMANCE_AREA(prefix, Counts, backend);      \
    HOLDFAST_CONFORMANCE_AREA(prefix, Histories, backend);   \
    HOLDFAST_CONFORMANCE_AREA(prefix, Feed, backend);        \
    HOLDFAST_CONFORMANCE_AREA(prefix, Trim, backend);        \
    HOLDFAST_CONFORMANCE_AREA(prefix, StoreClock, backend);  \
    HOLDFAST_CONFORMANCE_AREA(prefix, LostReplies, backend); \
    HOLDFAST_CONFORMANCE_AREA(prefix, OtherKinds, backend);  \
    HOLDFAST_CONFORMANCE_AREA(prefix, Models, backend);      \
    }                                                        \
    static_assert(true)
