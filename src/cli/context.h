// What every client of a server needs: where it is, how to print, and how to say what went wrong.
#pragma once

#include <holdfast/client.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/table.h"

namespace holdfast::cli {

namespace json = boost::json;

inline constexpr std::string_view kDefaultServer = "http://127.0.0.1:7400";

/// The options that all of them have.
class Context {
  public:
    explicit Context(Io& its_io) : io(its_io) {}

    /// Adds --server and -o.
    void declare(Options& options);
    client::Client& server();
    std::string server_url() const;
    std::string token() const;
    std::string user() const;  ///< For the server's audit.
    bool as_json() const { return output == "json"; }
    /// One JSON value, a line of its own.
    void print(const json::value& value) const;
    /// Talk, not data: to standard error, and only to a person.
    void say(std::string_view text) const;

    /// A confirmation by a person, or `yes`. Without a terminal and `yes` it is a usage error that says so.
    std::optional<int> confirm(const std::string& question, bool yes) const;

    Io& io;
    std::string server_option;
    std::string output = "table";

  private:
    std::unique_ptr<client::Client> client_;
};

/// Declares the common options, parses, and runs `act`; what the client throws becomes a message with the next
/// step and an exit code.
int run_client(Context& context, Options& options, const Arguments& arguments,
               const std::function<int()>& act);

int exit_code(const client::Error& error);
void print_error(const client::Error& error, const Context& context);

/// Where a task's waiting ends: finished, or suspended until a person acts.
bool is_over(std::string_view state);
/// 0 or kTaskFailed.
int exit_of_state(std::string_view state);

/// A filter's options: --query, --state, --queue, --type, --tenant, --label, --since, --until.
void declare_filter(Options& options, client::Filter& filter, bool with_state = true);

/// "{…}", "-" for standard input, "@file". Throws Error invalid_argument when it is no JSON.
json::value read_json(std::string_view argument, Io& io);

/// A member as text: strings as they are, null as nothing, anything else as JSON.
std::string text_of(const json::value& object, std::string_view name);
/// On a terminal local time, elsewhere as the server wrote it.
std::string time_of(const json::value& object, std::string_view name, const Io& io);
std::int64_t count_of(const json::value& object, std::string_view name);

}  // namespace holdfast::cli
