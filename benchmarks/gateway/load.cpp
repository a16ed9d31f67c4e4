// A load of games on a gateway over HTTP or TCP: one thread, epoll, a few microseconds a request, so that it is not the
// bottleneck of what is measured. Prints one line of JSON.
//
//     load http|tcp HOST PORT --connections 64 --sessions 64 --seconds 5 --rate 0 --ticks 100 --body 128 --hold 0
//
// Each connection has one request under way; its sessions take turns. With a rate, requests are due at even intervals
// and a request's time begins when it is due. With --hold 1 sessions are started, each is ticked once, and all stay open
// for --stay seconds.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Options {
  bool tcp = false;
  std::string host, port;
  std::map<std::string, double> numbers{{"connections", 64}, {"sessions", 64}, {"seconds", 5}, {"rate", 0},
                                        {"ticks", 100},      {"body", 128},    {"hold", 0},     {"stay", 0}};
  double operator[](const char* name) const { return numbers.at(name); }
};

struct Session {
  long number = 0;
  int tick = -1;  // the next request: -1 start, then ticks, then end
};

enum Kind { start = 0, tick = 1, end = 2 };

struct Connection {
  int socket = -1;
  std::string in, out;
  std::vector<Session> sessions;
  std::size_t at = 0;  // whose turn it is
  Kind kind = start;
  bool busy = false, held = false;
  double sent = 0;
};

struct Load {
  Options options;
  std::vector<Connection> connections;
  std::vector<float> latencies;
  std::string body, authority;
  long sessions = 0, open = 0, finished = 0, refused = 0, lost = 0, ticks = 0, held = 0;
  std::string first_refusal;
  int epoll = -1;
  double due = 0, interval = 0;
};

static void append_http(std::string& out, const char* kind, const std::string& name, const std::string& body,
                        const std::string& host) {
  out += "POST /step HTTP/1.1\r\nhost: ";
  out += host, out += "\r\nstep_kind: ", out += kind, out += "\r\nsession: ", out += name;
  out += "\r\ncontent-length: ", out += std::to_string(body.size()), out += "\r\n\r\n", out += body;
}

// Bytes of a whole answer at the front of the buffer, 0 where it is not whole; its status.
static std::size_t http_answer(const std::string& in, int& status) {
  const std::size_t head = in.find("\r\n\r\n");
  if (head == std::string::npos) return 0;
  status = std::atoi(in.c_str() + 9);
  std::size_t size = 0;
  for (std::size_t line = in.find("\r\n"); line < head; line = in.find("\r\n", line + 2))
    if (strncasecmp(in.c_str() + line + 2, "content-length:", 15) == 0) size = std::strtoul(in.c_str() + line + 17, nullptr, 10);
  return in.size() < head + 4 + size ? 0 : head + 4 + size;
}

static void append_frame(std::string& out, Kind kind, const std::string& name, const std::string& body) {
  const std::uint32_t size = htonl(static_cast<std::uint32_t>(body.size()));
  const char head[16] = {'L', 1, static_cast<char>(kind + 1), static_cast<char>(name.size())};
  out.append(head, 8).append(reinterpret_cast<const char*>(&size), 4).append(4, 0);
  out += name, out += body;
}

static std::size_t frame_answer(const std::string& in, int& status) {
  if (in.size() < 16) return 0;
  std::uint16_t code;
  std::uint32_t size;
  std::memcpy(&code, in.data() + 2, 2), std::memcpy(&size, in.data() + 8, 4);
  status = ntohs(code);
  return in.size() < 16 + ntohl(size) ? 0 : 16 + ntohl(size);
}

static void flush(Connection& connection) {
  while (!connection.out.empty()) {
    const ssize_t sent = send(connection.socket, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0) return;  // full: epoll says when to go on; broken: the next read says so
    connection.out.erase(0, static_cast<std::size_t>(sent));
  }
}

static void request(Load& load, Connection& connection, double from) {
  static const char* names[] = {"start", "tick", "end"};
  Session& session = connection.sessions[connection.at];
  if (session.tick < 0 && session.number == 0) session.number = ++load.sessions;
  connection.kind = session.tick < 0 ? start : session.tick < load.options["ticks"] ? tick : end;
  const std::string name = "load-" + std::to_string(getpid()) + "-" + std::to_string(session.number);
  static const std::string nothing;
  const std::string& body = connection.kind == tick ? load.body : nothing;
  if (load.options.tcp) append_frame(connection.out, connection.kind, name, body);
  else append_http(connection.out, names[connection.kind], name, body, load.options.host);
  connection.busy = true;
  connection.sent = from;
  flush(connection);
}

// Takes the answer of the request under way, and moves on to the next session of the connection.
static void answered(Load& load, Connection& connection, int status, const std::string& text) {
  Session& session = connection.sessions[connection.at];
  connection.busy = false;
  if (status != 200) {
    if (load.refused++ == 0) load.first_refusal = text.substr(text.size() > 200 ? text.size() - 200 : 0);
    load.open -= connection.kind != start;
    session = Session{};
  } else if (connection.kind == end) {
    ++load.finished, --load.open;
    session = Session{};
  } else {
    if (connection.kind == tick) ++load.ticks, load.latencies.push_back(static_cast<float>(now() - connection.sent));
    else ++load.open;
    ++session.tick;
  }
  connection.at = (connection.at + 1) % connection.sessions.size();
  if (load.options["hold"] != 0 && !connection.held && connection.at == 0 && connection.sessions.back().tick >= 1)
    connection.held = true, ++load.held;
}

static void readable(Load& load, Connection& connection) {
  char buffer[65536];
  for (;;) {
    const ssize_t size = recv(connection.socket, buffer, sizeof buffer, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (size <= 0) {
      ++load.lost;
      epoll_ctl(load.epoll, EPOLL_CTL_DEL, connection.socket, nullptr);
      connection.busy = true;  // never used again
      return;
    }
    connection.in.append(buffer, static_cast<std::size_t>(size));
    if (static_cast<std::size_t>(size) < sizeof buffer) break;
  }
  int status = 0;
  while (const std::size_t size = load.options.tcp ? frame_answer(connection.in, status) : http_answer(connection.in, status)) {
    const std::string text = status == 200 ? "" : connection.in.substr(0, size);
    connection.in.erase(0, size);
    answered(load, connection, status, text);
    if (load.interval == 0 && !connection.held) request(load, connection, now());
  }
}

static void run(Load& load) {
  const double began = now(), until = began + load.options["seconds"];
  load.due = began;
  std::vector<epoll_event> events(1024);
  std::size_t next = 0;
  if (load.interval == 0)
    for (auto& connection : load.connections) request(load, connection, now());
  while (now() < until && load.held < static_cast<long>(load.connections.size())) {
    double wait = 0.05;
    while (load.interval > 0 && load.due <= now()) {
      std::size_t tries = 0;
      while (tries < load.connections.size() && load.connections[next].busy) next = (next + 1) % load.connections.size(), ++tries;
      if (tries == load.connections.size()) break;  // all under way: it is sent, late, when one is free
      request(load, load.connections[next], load.due);
      load.due += load.interval;
    }
    if (load.interval > 0) wait = std::max(0.0, std::min(wait, load.due - now()));
    timespec pause{0, static_cast<long>(wait * 1e9)};
    const int count = epoll_pwait2(load.epoll, events.data(), static_cast<int>(events.size()), &pause, nullptr);
    for (int at = 0; at < count; ++at) {
      Connection& connection = load.connections[events[at].data.u32];
      if (events[at].events & EPOLLOUT) flush(connection);
      if (events[at].events & ~EPOLLOUT) readable(load, connection);
    }
  }
  if (load.options["hold"] != 0) usleep(static_cast<useconds_t>(load.options["stay"] * 1e6));
  std::sort(load.latencies.begin(), load.latencies.end());
  const auto percentile = [&](double share) {
    return load.latencies.empty() ? 0.0 : 1e3 * load.latencies[static_cast<std::size_t>(share * (load.latencies.size() - 1))];
  };
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double seconds = now() - began;
  const double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  for (char& letter : load.first_refusal)
    if (letter == '"' || letter == '\\' || static_cast<unsigned char>(letter) < 32) letter = ' ';
  std::printf("{\"seconds\": %.3f, \"ticks\": %ld, \"ticks_per_s\": %.1f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f, "
              "\"open\": %ld, \"finished\": %ld, \"refused\": %ld, \"lost\": %ld, \"client_cpu_s\": %.3f, \"first_refusal\": \"%s\"}\n",
              seconds, load.ticks, load.ticks / seconds, percentile(0.5), percentile(0.99), percentile(1), load.open,
              load.finished, load.refused, load.lost, cpu, load.first_refusal.c_str());
}

static void connect_all(Load& load) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  load.epoll = epoll_create1(0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(load.options.port)));
  inet_pton(AF_INET, load.options.host.c_str(), &address.sin_addr);
  load.connections.resize(static_cast<std::size_t>(load.options["connections"]));
  for (std::size_t at = 0; at < load.connections.size(); ++at) {
    Connection& connection = load.connections[at];
    connection.socket = socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(connection.socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      std::perror("connect");
      std::exit(1);
    }
    fcntl(connection.socket, F_SETFL, O_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET, event.data.u32 = static_cast<std::uint32_t>(at);
    epoll_ctl(load.epoll, EPOLL_CTL_ADD, connection.socket, &event);
  }
  for (long number = 0; number < static_cast<long>(load.options["sessions"]); ++number)
    load.connections[number % load.connections.size()].sessions.emplace_back();
}

int main(int count, char** given) {
  if (count < 4) return std::fprintf(stderr, "usage: load http|tcp HOST PORT [--NAME NUMBER]...\n"), 2;
  Load load;
  load.options.tcp = std::string(given[1]) == "tcp";
  load.options.host = given[2], load.options.port = given[3];
  for (int at = 4; at + 1 < count; at += 2) {
    const auto found = load.options.numbers.find(given[at] + 2);
    if (found == load.options.numbers.end()) return std::fprintf(stderr, "unknown: %s\n", given[at]), 2;
    found->second = std::atof(given[at + 1]);
  }
  const std::size_t size = static_cast<std::size_t>(load.options["body"]);
  for (std::size_t at = 0; at < size / 4; ++at) {
    const float number = static_cast<float>(at % 7) / 7;
    load.body.append(reinterpret_cast<const char*>(&number), 4);
  }
  load.interval = load.options["rate"] > 0 ? 1 / load.options["rate"] : 0;
  load.latencies.reserve(1 << 20);
  connect_all(load);
  run(load);
}
