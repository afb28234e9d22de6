#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include "redis/stream.h"

namespace holdfast::redis {
namespace {

namespace ssl = asio::ssl;
using boost::system::error_code;

class TlsStream final : public Stream {
  public:
    TlsStream(const asio::any_io_executor& executor, Tls tls)
        : tls_(std::move(tls)),
          context_(ssl::context::tls_client),
          stream_(executor, context_),
          dialler_(stream_.next_layer()) {}

    Async<Result<>> connect(Address address) override {
        CO_TRY_VOID(believe(address.host));
        CO_TRY_VOID(co_await dialler_.dial(address));
        error_code failed;
        co_await stream_.async_handshake(ssl::stream_base::client, told_to(failed));
        if (failed) co_return refuse(Code::unavailable, "TLS: " + failed.message());
        co_return Result<>{};
    }
    Async<std::size_t> read_some(std::span<char> into, error_code& failed) override {
        return stream_.async_read_some(asio::buffer(into.data(), into.size()), told_to(failed));
    }
    Async<std::size_t> write(std::string_view bytes, error_code& failed) override {
        return asio::async_write(stream_, asio::buffer(bytes), told_to(failed));
    }
    /// No farewell: nothing that we would still say or hear matters.
    void close() override { dialler_.close(); }

  private:
    /// Whom we talk to must be who was named in the address.
    Result<> believe(const std::string& host) {
        error_code failed;
        if (tls_.ca_file.empty()) {
            context_.set_default_verify_paths(failed);
        } else {
            context_.load_verify_file(tls_.ca_file, failed);
        }
        if (failed)
            return refuse(Code::unavailable,
                          "TLS: cannot read the certificates of " +
                              (tls_.ca_file.empty() ? "the system" : tls_.ca_file) + ": " +
                              failed.message());
        SSL* const session = stream_.native_handle();
        stream_.set_verify_mode(ssl::verify_peer, failed);
        stream_.set_verify_callback(ssl::host_name_verification(host), failed);
        SSL_set_tlsext_host_name(session, host.c_str());
        return {};
    }

    Tls tls_;
    ssl::context context_;
    ssl::stream<asio::ip::tcp::socket> stream_;
    Dialler dialler_;
};

}  // namespace

std::unique_ptr<Stream> tls_stream(const asio::any_io_executor& executor, Tls tls) {
    return std::make_unique<TlsStream>(executor, std::move(tls));
}

}  // namespace holdfast::redis
