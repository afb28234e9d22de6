#include "coordination/presence.h"

#include <gtest/gtest.h>

#include "coordination/local/local_coordination.h"
#include "testing/calls_under_way.h"
#include "testing/manual_clock.h"

namespace holdfast::coordination {
namespace {

using namespace std::chrono_literals;
using holdfast::testing::Executor;
using holdfast::testing::ManualClock;

struct PresenceTest : ::testing::Test {
    struct One {
        One(PresenceTest& test, std::string id)
            : coordination(test.hub),
              presence(coordination, test.clock, test.world.executor(),
                       {.id = std::move(id), .seed = ++test.seeds},
                       [](Instance& self) { self.about = Json::of("here"); }),
              group(test.world.executor()) {
            coordination.on_hint([this](const Hint& hint) {
                if (hint.of == Hint::Of::instances) presence.look();
            });
            presence.on_company([this](bool some) { company.push_back(some); });
        }
        void start() { group.spawn(Presence::run(&presence, &group)); }

        LocalCoordination coordination;
        Presence presence;
        TaskGroup group;
        std::vector<bool> company;
    };
    void end(One& one) { world.run(one.group.stop()); }

    ManualClock clock;
    Executor world{clock};
    LocalHub hub{clock, world.executor()};
    std::uint64_t seeds = 0;
};

TEST_F(PresenceTest, who_comes_is_known_to_those_who_are_there_at_once) {
    One first(*this, "first"), second(*this, "second");
    first.start();
    world.poll();
    EXPECT_TRUE(first.presence.others().empty());
    EXPECT_TRUE(first.company.empty());
    second.start();
    world.poll();
    ASSERT_EQ(first.presence.others().size(), 1U);
    EXPECT_EQ(first.presence.others()[0].id, "second");
    EXPECT_EQ(first.presence.others()[0].about.text(), R"("here")");
    EXPECT_EQ(second.presence.others().size(), 1U);
    EXPECT_EQ(first.company, std::vector{true});
    end(first);
    end(second);
}

TEST_F(PresenceTest, who_leaves_is_known_to_be_gone_at_once) {
    One first(*this, "first"), second(*this, "second");
    first.start();
    second.start();
    world.poll();
    end(second);
    world.run(second.presence.leave());
    world.poll();
    EXPECT_TRUE(first.presence.others().empty());
    EXPECT_EQ(first.company, (std::vector{true, false}));
    end(first);
}

TEST_F(PresenceTest, who_says_nothing_any_more_is_gone_when_its_time_is_over_and_the_rest_stay) {
    One first(*this, "first"), second(*this, "second"), third(*this, "third");
    for (One* one : {&first, &second, &third}) one->start();
    world.poll();
    end(third);
    for (int i = 0; i < 20; ++i) world.advance(1s);
    ASSERT_EQ(first.presence.others().size(), 1U);
    EXPECT_EQ(first.presence.others()[0].id, "second");
    end(first);
    end(second);
}

}  // namespace
}  // namespace holdfast::coordination
