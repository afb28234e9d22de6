#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <ostream>
#include <thread>

#include "cli/commands.h"
#include "cli/top_view.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kFailures = 8;

volatile std::sig_atomic_t interrupted = 0;

Look look(client::Client& server) {
    const client::Filter failed{.states = {"suspended", "failed", "retrying"}};
    const auto queues = server.queues();
    const auto workers = server.workers();
    const auto failures = server.list(failed, kFailures);
    return look_at(queues, workers, failures.tasks, std::chrono::steady_clock::now());
}

/// Takes the terminal's whole screen and key by key input, and gives both back.
class Screen {
  public:
    explicit Screen(Io& io) : io_(io) {
        keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
        if (keys_) {
            termios raw = before_;
            raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
            ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        }
        struct sigaction action{};
        action.sa_handler = [](int) { interrupted = 1; };
        ::sigaction(SIGINT, &action, &old_int_);
        ::sigaction(SIGTERM, &action, &old_term_);
        io_.out << "\x1b[?1049h\x1b[?25l" << std::flush;
    }
    ~Screen() {
        io_.out << "\x1b[?25h\x1b[?1049l" << std::flush;
        ::sigaction(SIGINT, &old_int_, nullptr);
        ::sigaction(SIGTERM, &old_term_, nullptr);
        if (keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    void show(const std::vector<std::string>& lines) {
        io_.out << "\x1b[H";
        for (std::size_t i = 0; i < lines.size(); ++i)
            io_.out << (i > 0 ? "\r\n" : "") << lines[i] << "\x1b[K";
        io_.out << "\x1b[J" << std::flush;
    }
    /// True: q was pressed, or somebody interrupts.
    bool wants_to_leave(std::chrono::milliseconds wait) const {
        pollfd entry{keys_ ? STDIN_FILENO : -1, POLLIN, 0};
        char key = 0;
        if (::poll(&entry, 1, static_cast<int>(wait.count())) > 0 &&
            ::read(STDIN_FILENO, &key, 1) == 1)
            return key == 'q' || key == 'Q' || key == 4;
        return interrupted != 0;
    }
    static std::pair<unsigned, unsigned> size() {
        winsize now{};
        if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) == 0 && now.ws_col > 0 && now.ws_row > 0)
            return {now.ws_col, now.ws_row};
        return {80, 24};
    }

  private:
    Io& io_;
    bool keys_ = false;
    termios before_{};
    struct sigaction old_int_{}, old_term_{};
};

int watch(Context& context, std::chrono::milliseconds every) {
    Look before = look(context.server());
    Screen terminal(context.io);
    std::string trouble;
    for (;;) {
        const auto [columns, rows] = Screen::size();
        const auto title =
            "holdfast " + context.server_url() + (trouble.empty() ? "" : " · " + trouble);
        auto lines = screen(before, title, columns, rows - 1);
        lines.resize(rows - 1);
        lines.emplace_back("q quit");
        terminal.show(lines);
        if (terminal.wants_to_leave(every)) return kOk;
        try {
            auto now = look(context.server());
            compare(now, before);
            before = std::move(now);
            trouble.clear();
        } catch (const client::Error& error) {
            trouble = std::string(to_string(error.code)) + ", trying again";
        }
    }
}

}  // namespace

int top(const Arguments& arguments, Io& io) {
    Context context(io);
    bool once = false;
    std::chrono::milliseconds every{1'000};
    Options options("top", "[OPTIONS]",
                    "A live view of queues, rates, workers and the newest failures. q leaves.");
    options.flag(once, "--once", "Look once (rates over one interval), print, and leave")
        .duration(every, "--every", "How often to look (1s)");
    return run_client(context, options, arguments, [&] {
        if (!once && !context.as_json() && io.out_is_terminal) return watch(context, every);
        const auto before = look(context.server());
        std::this_thread::sleep_for(every);
        auto now = look(context.server());
        compare(now, before);
        if (context.as_json()) {
            context.print(look_json(now));
        } else {
            for (const auto& line : screen(now, "holdfast " + context.server_url(), io.width, 1000))
                io.out << line << '\n';
        }
        return kOk;
    });
}

}  // namespace holdfast::cli
