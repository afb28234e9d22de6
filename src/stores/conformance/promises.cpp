// The suite about itself: every promise of store.h has a case, and some case really ran.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

std::set<int> promises_of_the_port() {
    std::ifstream file(HOLDFAST_SOURCE_DIR "/src/stores/store.h");
    std::stringstream text;
    text << file.rdbuf();
    const std::string port = text.str();
    const std::regex promise(R"(\bP([0-9]+)\b)");
    std::set<int> numbers;
    for (std::sregex_iterator it(port.begin(), port.end(), promise), end; it != end; ++it)
        numbers.insert(std::stoi((*it)[1]));
    return numbers;
}

/// The promises that a case's name begins with: 2 and 11 of "P2_P11_random_steps/memory".
std::set<int> promises_of_a_case(const std::string& name) {
    const std::regex promise("P([0-9]+)_");
    std::set<int> numbers;
    std::smatch match;
    auto at = name.begin();
    while (
        std::regex_search(at, name.end(), match, promise, std::regex_constants::match_continuous)) {
        numbers.insert(std::stoi(match[1]));
        at = match[0].second;
    }
    return numbers;
}

template <class Visit>
void for_each_case(Visit visit) {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int s = 0; s < all.total_test_suite_count(); ++s) {
        const testing::TestSuite& suite = *all.GetTestSuite(s);
        for (int t = 0; t < suite.total_test_count(); ++t) {
            if (suite.GetTestInfo(t)->value_param() != nullptr) visit(*suite.GetTestInfo(t));
        }
    }
}

TEST(Promises, every_promise_of_the_port_has_a_case) {
    const std::set<int> promised = promises_of_the_port();
    ASSERT_GE(promised.size(), 33U);
    std::set<int> held;
    for_each_case([&](const testing::TestInfo& info) {
        const std::set<int> numbers = promises_of_a_case(info.name());
        EXPECT_FALSE(numbers.empty()) << info.name() << " names no promise";
        for (const int number : numbers)
            EXPECT_TRUE(promised.contains(number)) << "store.h has no P" << number;
        held.insert(numbers.begin(), numbers.end());
    });
    for (const int number : promised)
        EXPECT_TRUE(held.contains(number)) << "P" << number << " has no case";
}

TEST(Promises, there_is_a_backend_to_hold_to_them) {
    int cases = 0;
    for_each_case([&](const testing::TestInfo&) { ++cases; });
    EXPECT_GT(cases, 0) << "no HOLDFAST_CONFORMANCE(...) in this binary";
}

/// Skipping everything is no way to conform.
class SomethingRan : public testing::Environment {
    void TearDown() override {
        int chosen = 0;
        for_each_case([&](const testing::TestInfo& info) { chosen += info.should_run() ? 1 : 0; });
        if (chosen > 0 && Suite::cases_run() == 0)
            ADD_FAILURE() << "all " << chosen << " cases were skipped";
    }
};

[[maybe_unused]] const testing::Environment* const kSomethingRan =
    testing::AddGlobalTestEnvironment(new SomethingRan);

}  // namespace
}  // namespace holdfast::stores::conformance
