// Options and arguments of one command. The library behind it stays behind it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace holdfast::cli {

/// Declare, then parse. Names are as they are typed: "--queue" or "-l,--label"; `value` is what help shows
/// in place of the value. Targets keep what they hold unless the option is given.
class Options {
  public:
    /// `usage`: what stands behind the command's name; `about`: what it does, and an example.
    Options(std::string name, std::string usage, std::string about);
    ~Options();
    Options(const Options&) = delete;
    Options& operator=(const Options&) = delete;

    Options& flag(bool& target, const std::string& name, const std::string& help);
    Options& text(std::string& target, const std::string& name, const std::string& value,
                  const std::string& help);
    Options& texts(std::vector<std::string>& target, const std::string& name,
                   const std::string& value, const std::string& help);
    /// One of these words.
    Options& choice(std::string& target, const std::string& name, std::vector<std::string> words,
                    const std::string& help);
    Options& number(std::optional<std::int64_t>& target, const std::string& name,
                    const std::string& help);
    Options& decimal(std::optional<double>& target, const std::string& name,
                     const std::string& help);
    /// A duration ("2h30m") that may be left out: then it is `bare`.
    Options& waiting(std::optional<std::chrono::milliseconds>& target, const std::string& name,
                     std::chrono::milliseconds bare, const std::string& help);
    Options& duration(std::chrono::milliseconds& target, const std::string& name,
                      const std::string& help);
    Options& argument(std::string& target, const std::string& name, const std::string& help,
                      bool required = true);
    Options& arguments(std::vector<std::string>& target, const std::string& name,
                       const std::string& help, bool required = true);
    /// Everything behind "--", as it stands.
    Options& rest(std::vector<std::string>& target);

    /// None: go on. Else the exit code: help was asked for, or the arguments are wrong and `io.err` says how.
    std::optional<int> parse(const Arguments& arguments, Io& io);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::cli
