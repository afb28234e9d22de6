#include "cli/commands.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <sstream>

#include "cli/canned_server.h"
#include "cli/context.h"
#include "cli/top_view.h"

namespace holdfast::cli {
namespace {

constexpr const char* kTask =
    R"({"id":"x","type":"t","queue":"q","state":"succeeded","attempt":1,"result":0.2,"error":null,)"
    R"("created_at":"2026-11-16T08:00:00.000Z","finished_at":"2026-11-16T08:00:01.000Z"})";

struct Said {
    int code = 0;
    std::string out, err;
};

struct CommandsTest : ::testing::Test {
    Said say(const Arguments& arguments, const std::string& input = "") {
        std::istringstream in(input);
        std::ostringstream out, err;
        Io io{.in = in, .out = out, .err = err, .environment = [this](const char* name) {
                  return std::string_view(name) == "HOLDFAST_SERVER" ? url.c_str() : nullptr;
              }};
        const int code = run(with_general_commands(client_commands(), "1.2.3"), arguments, io);
        return {code, out.str(), err.str()};
    }
    CannedServer& answers(std::map<std::string, CannedServer::Canned> canned) {
        server = std::make_unique<CannedServer>(std::move(canned));
        url = server->url();
        return *server;
    }

    std::unique_ptr<CannedServer> server;
    std::string url = "http://127.0.0.1:1";
};

TEST_F(CommandsTest, help_lists_every_command_and_is_data) {
    const auto said = say({"--help"});
    EXPECT_EQ(said.code, kOk);
    for (const auto& command : with_general_commands(client_commands(), ""))
        EXPECT_TRUE(said.out.contains("  " + command.name + " ")) << command.name;
    EXPECT_EQ(say({"help"}).out, said.out);
    EXPECT_EQ(say({}).code, kUsage);
}

TEST_F(CommandsTest, every_command_explains_itself) {
    for (const auto& command : with_general_commands(client_commands(), "")) {
        const auto said = say({command.name, "--help"});
        EXPECT_EQ(said.code, kOk) << command.name;
        EXPECT_TRUE(said.out.contains("usage: holdfast " + command.name)) << said.out;
        EXPECT_EQ(say({"help", command.name}).out, said.out);
    }
}

TEST_F(CommandsTest, a_typo_is_a_usage_error_with_a_hint) {
    const auto said = say({"sumbit"});
    EXPECT_EQ(said.code, kUsage);
    EXPECT_TRUE(said.err.contains("did you mean 'submit'?")) << said.err;
    EXPECT_EQ(said.out, "");
}

TEST_F(CommandsTest, the_version_can_be_asked_in_two_ways) {
    EXPECT_EQ(say({"version"}).out, "holdfast 1.2.3\n");
    EXPECT_EQ(say({"--version"}).out, "holdfast 1.2.3\n");
    EXPECT_EQ(say({"version", "-o", "json"}).out, "{\"version\":\"1.2.3\"}\n");
}

TEST_F(CommandsTest, exit_codes_are_those_of_the_contract) {
    const std::tuple<int, std::string, int> rows[]{{404, "not_found", kNotFound},
                                                   {401, "unauthorized", kAuth},
                                                   {403, "", kAuth},
                                                   {403, "forbidden", kAuth},
                                                   {409, "wrong_state", kConflict},
                                                   {409, "conflict", kConflict},
                                                   {422, "invalid_argument", kUsage},
                                                   {500, "", kOther}};
    for (const auto& [status, code, expected] : rows) {
        answers({{"POST /v1/tasks/x/cancel",
                  {status, R"({"code":")" + code + R"(","detail":"so it is"})"}}});
        const auto said = say({"cancel", "x"});
        EXPECT_EQ(said.code, expected) << status << code;
        EXPECT_TRUE(said.err.contains("so it is")) << said.err;
    }
    url = "http://127.0.0.1:1";
    const auto said = say({"stats"});
    EXPECT_EQ(said.code, kUnreachable);
    EXPECT_TRUE(said.err.contains("holdfast dev")) << "the next step: " << said.err;
}

TEST_F(CommandsTest, an_error_is_json_when_json_was_asked_for) {
    answers({});
    const auto said = say({"get", "x", "-o", "json"});
    EXPECT_EQ(said.code, kNotFound);
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(boost::json::parse(said.err).at("error").at("code"), "not_found");
}

TEST_F(CommandsTest, an_empty_list_is_an_empty_array_and_no_error) {
    answers({{"GET /v1/tasks", {200, R"({"tasks":[],"next_cursor":null})"}},
             {"GET /internal/tasks/suspended", {200, R"({"tasks":[],"next_cursor":null})"}},
             {"GET /v1/queues", {200, R"({"queues":[]})"}},
             {"GET /v1/workers", {200, R"({"workers":[]})"}}});
    for (const auto* command : {"list", "suspended", "queues", "workers"}) {
        const auto as_json = say({command, "-o", "json"});
        EXPECT_EQ(as_json.code, kOk);
        EXPECT_EQ(as_json.out, "[]\n") << command;
        const auto as_table = say({command});
        EXPECT_EQ(as_table.code, kOk);
        EXPECT_EQ(as_table.out, "") << command;
    }
}

TEST_F(CommandsTest, instances_are_listed_with_their_roles_and_the_one_that_answers_is_marked) {
    answers(
        {{"GET /v1/instances",
          {200, R"({"instances":[{"id":"a-1","self":false,"roles":["api","ticker"],"workers":3,)"
                R"("address":"http://127.0.0.1:1","version":"1.2"},{"id":"b-2","self":true}]})"}}});
    const auto said = say({"instances"});
    EXPECT_EQ(said.code, kOk) << said.err;
    EXPECT_TRUE(said.out.contains("api,ticker")) << said.out;
    EXPECT_TRUE(said.out.contains("b-2 *")) << said.out;
    EXPECT_FALSE(said.out.contains("a-1 *")) << said.out;
    EXPECT_EQ(boost::json::parse(say({"instances", "-o", "json"}).out).as_array().size(), 2U);
}

TEST_F(CommandsTest, the_audit_is_searched_and_listed_with_who_and_why) {
    auto& canned =
        answers({{"GET /v1/audit",
                  {200, R"({"entries":[{"id":"1","at":"2026-11-17T16:41:02.113Z","who":"A B",)"
                        R"("address":"127.0.0.1","action":"q.p","target":"queue:media",)"
                        R"("reason":"too hot"}],"next_cursor":null})"}}});
    const auto said = say({"audit", "--who", "A B", "--action", "q.p", "--limit", "5"});
    EXPECT_EQ(said.code, kOk) << said.err;
    EXPECT_EQ(canned.requests(),
              std::vector<std::string>{"GET /v1/audit?who=%41%20%42&action=%71%2E%70&limit=%35"});
    EXPECT_TRUE(said.out.contains("A B")) << said.out;
    EXPECT_TRUE(said.out.contains("queue:media")) << said.out;
    EXPECT_TRUE(said.out.contains("too hot")) << said.out;
}

TEST_F(CommandsTest, options_may_stand_before_the_command) {
    auto& canned = answers({{"GET /v1/tasks/x", {200, kTask}}});
    url = "http://127.0.0.1:1";
    const auto said = say({"--server", canned.url(), "-o", "json", "get", "x"});
    EXPECT_EQ(said.code, kOk) << said.err;
    EXPECT_EQ(boost::json::parse(said.out).at("state"), "succeeded");
    EXPECT_TRUE(said.out.contains("\"result\":0.2")) << "numbers as they were: " << said.out;
}

TEST_F(CommandsTest, a_submission_says_what_its_options_say) {
    auto& canned =
        answers({{"POST /v1/tasks", {202, R"({"id":"x","state":"queued","duplicate":false})"}}});
    const auto said =
        say({"submit", "image.resize", "-",   "--queue",  "media", "--key",   "k", "--priority",
             "9",      "--delay",      "5m",  "--label",  "a=b=c", "--retry", "2", "--timeout",
             "1h",     "--lease",      "10s", "--tenant", "acme"},
            R"({"w":640})");
    EXPECT_EQ(said.code, kOk) << said.err;
    EXPECT_EQ(said.out, "x\n");
    const auto request = canned.requests().at(0);
    EXPECT_EQ(boost::json::parse(request.substr(request.find('{'))),
              boost::json::parse(R"({"type":"image.resize","payload":{"w":640},"queue":"media",
        "idempotency_key":"k","priority":9,"delay":"5m","labels":{"a":"b=c"},"retry":{"max":2},
        "timeout":"1h","lease":"10s","tenant":"acme"})"));
}

TEST_F(CommandsTest, bad_input_is_told_before_the_server_is_asked) {
    const std::pair<Arguments, std::string> rows[]{
        {{"submit"}, "TYPE"},
        {{"submit", "t", "{bad"}, "no JSON"},
        {{"submit", "t", "@/nonexistent"}, "/nonexistent"},
        {{"submit", "t", "--label", "nope"}, "KEY=VALUE"},
        {{"get", "x", "-o", "yaml"}, "table|json"},
        {{"queues", "puase", "q"}, "did you mean 'pause'?"},
        {{"queues", "pause"}, "which queue?"},
        {{"queues", "limit", "q"}, "--concurrency"},
        {{"suspended", "resume"}, "--all"},
        {{"bulk", "cancel"}, "--all"},
        {{"work"}, "which program?"},
        {{"completion", "tcsh"}, "bash|zsh|fish"}};
    for (const auto& [arguments, expected] : rows) {
        const auto said = say(arguments);
        EXPECT_EQ(said.code, kUsage) << arguments[0];
        EXPECT_TRUE(said.err.contains(expected)) << said.err;
        EXPECT_EQ(said.out, "");
    }
}

TEST_F(CommandsTest, waiting_for_a_task_tells_how_it_ended) {
    const std::pair<std::string, int> rows[]{{"succeeded", kOk},
                                             {"failed", kTaskFailed},
                                             {"cancelled", kTaskFailed},
                                             {"suspended", kTaskFailed},
                                             {"running", kOther}};
    for (const auto& [state, expected] : rows) {
        answers({{"GET /v1/tasks/x", {200, R"({"id":"x","state":")" + state + R"("})"}}});
        EXPECT_EQ(say({"get", "x", "--wait", "1ms"}).code, expected) << state;
    }
}

TEST_F(CommandsTest, following_prints_each_step_and_ends_with_the_task) {
    answers({{"GET /v1/tasks/x", {200, R"({"id":"x","state":"failed"})"}},
             {"GET /v1/tasks/x/history",
              {200, R"({"history":[{"event":"submitted","to":"queued","attempt":0,"at":"A"},)"
                    R"({"event":"failed","from":"running","to":"failed","attempt":1,"at":"B",)"
                    R"("error":{"kind":"permanent","message":"no \u001b[31mdisk"}}]})"}}});
    const auto said = say({"get", "x", "--follow"});
    EXPECT_EQ(said.code, kTaskFailed);
    EXPECT_EQ(said.out,
              "A\tqueued\tsubmitted\t0\t\nB\tfailed\tfailed\t1\tpermanent: no \\x1b[31mdisk\n");
}

TEST_F(CommandsTest, acting_on_many_goes_on_after_a_refusal) {
    answers({{"POST /v1/tasks/a/cancel", {404, R"({"code":"not_found","detail":"no task a"})"}},
             {"POST /v1/tasks/b/cancel",
              {202, R"({"id":"b","state":"running","cancel_requested":true})"}}});
    const auto said = say({"cancel", "a", "b"});
    EXPECT_EQ(said.code, kNotFound);
    EXPECT_EQ(said.out, "b\tcancel requested\n");
    EXPECT_TRUE(said.err.contains("cannot cancel a: no task a")) << said.err;
}

TEST_F(CommandsTest, a_list_is_read_page_by_page_until_the_limit) {
    auto& canned = answers(
        {{"GET /v1/tasks", {200, R"({"tasks":[{"id":"x","state":"queued"}],"next_cursor":"c"})"}}});
    EXPECT_EQ(say({"list", "--limit", "2", "--state", "queued"}).out,
              "x\tqueued\t\t\t\t\t\nx\tqueued\t\t\t\t\t\n");
    EXPECT_EQ(canned.requests(),
              (std::vector<std::string>{"GET /v1/tasks?state=queued&limit=2",
                                        "GET /v1/tasks?state=queued&limit=1&cursor=c"}));
}

TEST_F(CommandsTest, a_list_by_a_filter_line) {
    auto& canned = answers({{"GET /v1/tasks", {200, R"({"tasks":[],"next_cursor":null})"}}});
    say({"list", "-q", "state:failed age:<1h"});
    EXPECT_EQ(canned.requests(),
              (std::vector<std::string>{"GET /v1/tasks?q=state%3Afailed%20age%3A%3C1h&limit=100"}));
}

TEST_F(CommandsTest, an_act_by_a_filter_line_is_a_bulk_act_that_asks_first) {
    auto& canned = answers(
        {{"POST /v1/tasks/bulk",
          {200,
           R"({"state":"succeeded","matched":200,"done":51,"refused_count":149,)"
           R"("refused_by":{"the task is running":149},"refused":[{"id":"a","reason":"runs"}]})"}}});
    EXPECT_EQ(say({"cancel", "-q", "queue:a"}).code, kUsage) << "nobody is there to say yes";
    const auto said = say({"cancel", "-q", "queue:a", "--yes", "--rate", "5", "--reason", "why"});
    EXPECT_EQ(said.code, kOk);
    EXPECT_EQ(said.out, "matched 200\tdone 51\trefused 149\n");
    EXPECT_EQ(said.err, "a: runs\n149 refused: the task is running\n");
    EXPECT_EQ(
        canned.requests().back(),
        R"(POST /v1/tasks/bulk {"action":"cancel","filter":{"q":"queue:a"},"rate":5.0,"reason":"why"})");
    EXPECT_EQ(say({"resume", "-q", "queue:a", "--dry-run"}).code, kOk);
    EXPECT_TRUE(canned.requests().back().contains(R"("dry_run":true)"));
    for (const Arguments& unclear : {Arguments{"cancel"}, Arguments{"cancel", "x", "-q", "queue:a"},
                                     Arguments{"resume", "-q", "queue:a", "--payload", "{}"}})
        EXPECT_NE(say(unclear).code, kOk);
}

TEST_F(CommandsTest, failures_are_a_table_of_groups) {
    auto& canned = answers(
        {{"GET /v1/failures",
          {200,
           R"({"groups":[{"fingerprint":"ab12","open":3,"failed":1,"type":"t",)"
           R"("last_seen":"2026-11-17T00:00:00.000Z","message":"disk # is full"}],"total":1})"}}});
    EXPECT_EQ(say({"failures", "-q", "queue:a"}).out,
              "ab12\t3\t1\tt\t2026-11-17T00:00:00.000Z\tdisk # is full\n");
    EXPECT_EQ(canned.requests().at(0), "GET /v1/failures?q=queue%3Aa&limit=50");
}

TEST_F(CommandsTest, discarding_many_needs_somebody_who_says_yes) {
    auto& canned = answers(
        {{"POST /internal/tasks/suspended/discard",
          {200,
           R"({"matched":2,"done":1,"refused_count":1,"refused":[{"id":"a","reason":"runs"}]})"}}});
    EXPECT_EQ(say({"suspended", "discard", "--all"}).code, kUsage);
    EXPECT_TRUE(canned.requests().empty());
    const auto said = say({"suspended", "discard", "--all", "--yes"});
    EXPECT_EQ(said.code, kOk);
    EXPECT_EQ(said.out, "matched 2\tdone 1\trefused 1\n");
    EXPECT_EQ(said.err, "a: runs\n");
    EXPECT_EQ(canned.requests().at(0), R"(POST /internal/tasks/suspended/discard {"filter":{}})");
}

TEST_F(CommandsTest, completion_knows_commands_and_their_options) {
    const auto commands = say({"completion", "words", "--"});
    EXPECT_TRUE(commands.out.contains("submit\n") && commands.out.contains("completion\n"));
    const auto flags = say({"completion", "words", "--", "submit"});
    EXPECT_TRUE(flags.out.contains("--queue\n") && flags.out.contains("--server\n")) << flags.out;
    EXPECT_TRUE(say({"completion", "words", "--", "queues"}).out.contains("limit\n"));
    for (const auto* shell : {"bash", "zsh", "fish"})
        EXPECT_TRUE(say({"completion", shell}).out.contains("holdfast completion words"));
}

TEST_F(CommandsTest, a_code_is_explained_without_a_server) {
    const auto said = say({"explain", "stale_lease"});
    EXPECT_EQ(said.code, kOk);
    EXPECT_TRUE(said.out.contains("lease"));
    for (int i = 0; i <= static_cast<int>(client::Code::other); ++i)
        EXPECT_EQ(say({"explain", std::string(to_string(static_cast<client::Code>(i)))}).code, kOk);
}

TEST(Top, rates_are_what_changed_between_two_looks) {
    const auto now = std::chrono::steady_clock::now();
    const auto queues = [](int queued, int done) {
        return boost::json::parse(R"({"queues":[{"name":"q","paused":true,"tasks":{"queued":)" +
                                  std::to_string(queued) + R"(,"succeeded":)" +
                                  std::to_string(done) + "}}]}");
    };
    const auto before = look_at(queues(10, 5), nullptr, {}, now);
    auto after = look_at(queues(8, 15), nullptr, {}, now + std::chrono::seconds(2));
    compare(after, before);
    EXPECT_DOUBLE_EQ(after.queues.at(0).out_per_s, 5);
    EXPECT_DOUBLE_EQ(after.queues.at(0).in_per_s, 4);
    auto trimmed = look_at(queues(8, 0), nullptr, {}, now + std::chrono::seconds(4));
    compare(trimmed, after);
    EXPECT_DOUBLE_EQ(trimmed.queues.at(0).out_per_s, 0) << "old tasks were removed";
}

TEST(Top, a_screen_fits_whatever_there_is_to_show) {
    json::array queues, workers, failures;
    for (int i = 0; i < 50; ++i) {
        queues.push_back({{"name", "queue-" + std::to_string(i)}, {"tasks", {{"queued", i}}}});
        workers.push_back({{"worker", "w" + std::to_string(i)}, {"queues", {"a"}}, {"slots", 4}});
        failures.push_back({{"id", "0193a1b2-aaaa-7000-8000-000000000001"},
                            {"error", {{"message", std::string(200, 'x')}}}});
    }
    const auto look = look_at(queues, workers, failures, {});
    const auto lines = screen(look, "holdfast", 80, 23);
    EXPECT_LE(lines.size(), 23U);
    std::string all;
    for (const auto& line : lines) {
        EXPECT_LE(line.size(), 90U) << line;
        all += line + "\n";
    }
    EXPECT_TRUE(all.contains("queue-0") && all.contains("more") && all.contains("w0") &&
                all.contains("0193a1b2-aaaa-7000-8000-000000000001"))
        << all;
}

}  // namespace
}  // namespace holdfast::cli
