// What a Job shows, and what the worker's threads share about it.
#pragma once

#include <atomic>
#include <boost/json/value.hpp>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "frames.h"

namespace holdfast::client {

/// What a job asks of its worker.
class JobOffice {
  public:
    virtual ~JobOffice() = default;
    virtual void progress(const Fence& fence, double value, std::string note) = 0;
    virtual void checkpoint(const Fence& fence, std::string item) = 0;
    virtual bool can_wait() const = 0;  ///< False on the connection's own thread.
};

struct JobState {
    JobState(JobOffice& its_office, Assignment its_task) : office(its_office), task(its_task) {}

    /// Copies what the views of `task` point at: the frame they came in will be gone.
    void own_text();
    /// The result is of no use any more, and says why: for whoever waits at a checkpoint.
    void interrupt(std::string why);
    void answer_checkpoint(const std::string& outcome);

    JobOffice& office;
    Assignment task;
    std::string text;  ///< What the views point at, once owned.
    std::atomic<bool> pause_requested = false;
    std::stop_source stop;

    std::mutex mutex;  ///< Of what follows.
    std::condition_variable changed;
    std::optional<boost::json::value> payload;
    bool checkpoints_read = false;
    std::vector<std::pair<std::string, boost::json::value>> checkpoints;
    std::optional<std::string> answer;       ///< To the checkpoint that is under way.
    std::optional<std::string> interrupted;  ///< Why the task is no longer ours.
};

}  // namespace holdfast::client
