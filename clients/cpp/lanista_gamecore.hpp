// A C++17 client for games that call in: one header, no dependencies but POSIX sockets.
//
//     lanista::Gateway gateway("http://127.0.0.1:8810");       // or tcp://127.0.0.1:8811
//     gateway.start("game-1", "...");
//     while (playing) std::string command = gateway.tick("game-1", "what the agent sees");
//     gateway.end("game-1", "how it ended");
//
// Bodies and replies are bytes that the game and its agent agree on. A Gateway is one connection, for one thread; a
// program may have many. Agents of one game that wait for each other need a Gateway each: send on all, then receive.
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace lanista {

// The gateway could not be reached, or its answer could not be read.
struct GatewayError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The gateway refused a request. `status` is an HTTP status, over TCP too; `retry_after` is in seconds, 0 if unsaid.
struct Refused : GatewayError {
  Refused(int status, const std::string& text, double retry_after = 0)
      : GatewayError(std::to_string(status) + ": " + text), status(status), retry_after(retry_after) {}
  int status;
  double retry_after;
};

// What the league wants played next; `json` has all of it. `ticket` goes into `start`.
struct Order {
  std::string ticket, json;
};

// The text or number under a key of a flat JSON object; empty where there is none.
inline std::string json_value(const std::string& json, const std::string& key) {
  std::size_t at = json.find('"' + key + '"');
  if (at == std::string::npos || (at = json.find(':', at + key.size() + 2)) == std::string::npos) return "";
  at = json.find_first_not_of(" \t\r\n", at + 1);
  if (at == std::string::npos) return "";
  if (json[at] != '"') return json.substr(at, json.find_first_of(",}] \r\n", at) - at);
  std::string value;
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\' && at + 1 < json.size()) ++at;
    value += json[at];
  }
  return value;
}

// The session's name in a request: that of the game, and of the agent where it has several.
inline std::string agent_of(const std::string& session, const std::string& agent) {
  return agent.empty() ? session : session + "-agent-" + agent;
}

class Gateway {
 public:
  explicit Gateway(const std::string& url, std::string token = "", int timeout_seconds = 60)
      : url_(url), token_(std::move(token)), timeout_(timeout_seconds) {
    const std::size_t host = url.find("://"), port = url.rfind(':');
    const std::string scheme = url.substr(0, host == std::string::npos ? 0 : host);
    if ((scheme != "http" && scheme != "tcp") || port == std::string::npos || port < host + 3)
      throw GatewayError(url + " is no address of a gateway: http://HOST:PORT or tcp://HOST:PORT");
    tcp_ = scheme == "tcp";
    host_ = url.substr(host + 3, port - host - 3);
    port_ = url.substr(port + 1, url.find('/', port) - port - 1);
    if (host_.size() > 2 && host_.front() == '[') host_ = host_.substr(1, host_.size() - 2);
  }
  Gateway(Gateway&& other) noexcept { *this = std::move(other); }
  Gateway& operator=(Gateway&& other) noexcept {
    std::swap(socket_, other.socket_), std::swap(tcp_, other.tcp_), std::swap(timeout_, other.timeout_);
    url_.swap(other.url_), token_.swap(other.token_), host_.swap(other.host_), port_.swap(other.port_);
    in_.swap(other.in_);
    return *this;
  }
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;
  ~Gateway() { close(); }

  std::string start(const std::string& session, const std::string& body = "", const std::string& ticket = "") {
    return send("start", session, body, ticket), receive();
  }
  std::string tick(const std::string& session, const std::string& body) { return send("tick", session, body), receive(); }
  std::string end(const std::string& session, const std::string& body = "") {
    return send("end", session, body), receive();
  }

  // What to play next; an empty ticket where nothing came up within `wait_seconds`. `game` is the name that the
  // trial file gives the game which this process plays; as a ticket it does for a process that never asks.
  Order next(int wait_seconds = 30, const std::string& game = "") {
    const std::string seconds = std::to_string(wait_seconds);
    const std::string query = "/next?seconds=" + seconds + (game.empty() ? "" : "&game=" + game);
    if (tcp_) write(frame(6, game, "", seconds));
    else write("GET " + query + " HTTP/1.1\r\nhost: " + host_ + authorization() + "\r\n\r\n");
    Order order;
    order.json = receive();
    order.ticket = json_value(order.json, "ticket");
    return order;
  }

  // Half a request each: `send` on several Gateways, then `receive` on each, lets agents of a game wait for each other.
  void send(const char* kind, const std::string& session, const std::string& body, const std::string& ticket = "") {
    if ((session + ticket).find_first_of("\r\n") != std::string::npos) throw GatewayError("a name has a line break");
    if (tcp_) return write(frame(kind[0] == 's' ? 1 : kind[0] == 't' ? 2 : kind[0] == 'e' ? 3 : 4, session, ticket, body));
    std::string request = "POST /step HTTP/1.1\r\nhost: " + host_ + "\r\nstep_kind: " + kind + "\r\nsession: " + session;
    if (!ticket.empty()) request += "\r\nticket: " + ticket;
    request += authorization() + "\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n";
    write(request + body);
  }
  std::string receive() { return tcp_ ? receive_frame() : receive_http(); }

  // Close the connection; a later request opens it anew. A session that has not ended stays open until it expires.
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    in_.clear();
  }

 private:
  std::string authorization() const { return token_.empty() ? "" : "\r\nauthorization: Bearer " + token_; }

  // A frame: 16 bytes of head, the session's name, the ticket, the body; numbers are big-endian.
  static std::string frame(int kind, const std::string& session, const std::string& ticket, const std::string& body) {
    if (session.size() > 255 || ticket.size() > 255) throw GatewayError("a name has more than 255 bytes");
    std::string out{'L', 1, static_cast<char>(kind), static_cast<char>(session.size()), 0, 0, 0, 0};
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(body.size() >> shift & 255);
    out += static_cast<char>(ticket.size());
    out.append(3, 0);
    return out + session + ticket + body;
  }

  std::string receive_frame() {
    const auto number = [this](std::size_t at, int bytes) {
      std::size_t value = 0;
      while (bytes--) value = value << 8 | static_cast<unsigned char>(in_[at++]);
      return value;
    };
    while (in_.size() < 16) fill();
    if (in_[0] != 'L') fail("its answer is no frame; is it the TCP port?");
    const std::size_t size = number(8, 4);
    while (in_.size() < 16 + size) fill();
    const int status = static_cast<int>(number(2, 2));
    const double wait = static_cast<double>(number(12, 4)) / 1000;
    const std::string body = in_.substr(16, size);
    in_.erase(0, 16 + size);
    if (status >= 300) throw Refused(status, body, wait);
    return body;
  }

  std::string receive_http() {
    std::size_t end;
    while ((end = in_.find("\r\n\r\n")) == std::string::npos) fill();
    const std::string head = in_.substr(0, end + 2);
    const int status = head.size() > 12 ? std::atoi(head.c_str() + 9) : 0;
    const std::string length = header(head, "content-length");
    if (status < 100 || (length.empty() && status != 204)) fail("its answer is not HTTP/1.1 with a content-length");
    const std::size_t size = std::strtoull(length.c_str(), nullptr, 10);
    while (in_.size() < end + 4 + size) fill();
    const std::string body = in_.substr(end + 4, size);
    in_.erase(0, end + 4 + size);
    if (header(head, "connection") == "close") close();
    if (status >= 300) throw Refused(status, body.substr(0, body.find_last_not_of("\r\n") + 1), std::atof(header(head, "retry-after").c_str()));
    return body;
  }

  // The value of a header, whose name is given in lower case.
  static std::string header(const std::string& head, const std::string& name) {
    for (std::size_t at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at + 2)) {
      if (head.size() <= at + 2 + name.size() || head[at + 2 + name.size()] != ':') continue;
      if (strncasecmp(head.c_str() + at + 2, name.c_str(), name.size()) != 0) continue;
      const std::size_t from = head.find_first_not_of(" \t", at + 3 + name.size()), to = head.find("\r\n", at + 2);
      return from >= to ? "" : head.substr(from, to - from);
    }
    return "";
  }

  void open() {
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_STREAM;
    if (const int wrong = getaddrinfo(host_.c_str(), port_.c_str(), &wanted, &found)) fail(gai_strerror(wrong));
    for (const addrinfo* one = found; one && socket_ < 0; one = one->ai_next) {
      socket_ = ::socket(one->ai_family, one->ai_socktype, one->ai_protocol);
      if (socket_ < 0) continue;
      const timeval limit{timeout_, 0};
      const int yes = 1;
      setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
      setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      if (connect(socket_, one->ai_addr, one->ai_addrlen) != 0) {
        const int kept = errno;
        close();
        errno = kept;
      }
    }
    freeaddrinfo(found);
    if (socket_ < 0) fail(std::strerror(errno));
    if (tcp_ && !token_.empty()) write(frame(5, "", "", token_)), receive_frame();
  }

  void write(const std::string& bytes) {
    if (socket_ < 0) open();
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t more = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) fail(std::strerror(errno));
      sent += static_cast<std::size_t>(more);
    }
  }

  void fill() {
    char buffer[16384];
    ssize_t more;
    do more = socket_ < 0 ? 0 : recv(socket_, buffer, sizeof buffer, 0);
    while (more < 0 && errno == EINTR);
    if (more == 0) fail("it closed the connection");
    if (more < 0) fail(errno == EAGAIN ? "it did not answer in time" : std::strerror(errno));
    in_.append(buffer, static_cast<std::size_t>(more));
  }

  // No request is repeated: the gateway may have taken it.
  [[noreturn]] void fail(const std::string& why) {
    close();
    throw GatewayError(url_ + ": " + why);
  }

  std::string url_, token_, host_, port_, in_;
  bool tcp_ = false;
  int socket_ = -1, timeout_ = 60;
};

}  // namespace lanista
