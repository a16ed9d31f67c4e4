// Tic-tac-toe as a process of its own that calls in: it trains in a league, plays its gates, and plays what is served.
//
//     g++ -std=c++17 -O2 -pthread -I../../clients/cpp -o tic_tac_toe tic_tac_toe.cpp
//     ./tic_tac_toe URL [--tables 16] [--games N] [--against-solver]
//
// Each table is a thread with a connection of its own. It starts a game; where there is nothing to play it asks, and
// waits. The agent's answer to `start` names the seat that this process plays by itself, with the exact solver, if any.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lanista_gamecore.hpp"
#include "tic_tac_toe.hpp"

struct Options {
  std::string url, token;
  int tables = 16;
  long games = 0;
  bool against_solver = false;
};

struct Score {
  std::atomic<long> games{0}, won{0}, drawn{0}, lost{0};  // against the solver
};

static std::atomic<bool> stopping{false};
static std::atomic<long> begun{0};

// One game. Returns what the first seat scored; `solver_seat` is the seat that this process played, or -1.
static int play(lanista::Gateway& gateway, const std::string& session, const std::string& ticket, bool against_solver,
                Solver& solver, std::mt19937& chance, int& solver_seat) {
  const std::string asked = against_solver ? "{\"solver\": " + std::to_string(chance() % 2) + "}" : "{}";
  const std::string seat = lanista::json_value(gateway.start(session, asked, ticket), "solver");
  solver_seat = seat.empty() || seat == "null" ? -1 : std::stoi(seat);
  Board board;
  while (!board.over()) {
    int square;
    if (board.mover() == solver_seat) {
      square = solver.choose(board, chance);
    } else {
      const std::string seen = "{\"seat\": " + std::to_string(board.mover()) + ", \"board\": \"" + board.seen() + "\"}";
      square = std::stoi(lanista::json_value(gateway.tick(session, seen), "square"));
      if (square < 0 || square > 8 || !board.free(square)) throw lanista::GatewayError("square " + std::to_string(square) + " is not free");
    }
    board.play(square);
  }
  gateway.end(session, "{\"first\": " + std::to_string(board.value()) + "}");
  return board.value();
}

// Wait until there may be something to play again; the ticket of what it is, where the gateway says so.
static std::string wait_for_game(lanista::Gateway& gateway, const lanista::Refused& refused) {
  if (refused.status == 503) try {
      return gateway.next(10).ticket;
    } catch (const lanista::GatewayError&) {  // a gateway that serves hands out no games
    }
  else std::fprintf(stderr, "%s\n", refused.what());
  std::this_thread::sleep_for(std::chrono::duration<double>(refused.retry_after > 0 ? refused.retry_after : 0.2));
  return "";
}

static void table(const Options& options, Score& score) {
  lanista::Gateway gateway(options.url, options.token);
  Solver solver;
  std::mt19937 chance(std::random_device{}());
  const std::string run = "tic-tac-toe-" + std::to_string(chance()) + "-";
  std::string ticket;
  for (long number = 0; !stopping && (options.games == 0 || begun++ < options.games); ++number) {
    try {
      int solver_seat = -1;
      const std::string taken = std::exchange(ticket, "");
      const int first = play(gateway, run + std::to_string(number), taken, options.against_solver, solver, chance, solver_seat);
      ++score.games;
      if (solver_seat >= 0) ++(first == 0 ? score.drawn : (first > 0) == (solver_seat == 1) ? score.won : score.lost);
    } catch (const lanista::Refused& refused) {
      begun -= refused.status == 503;
      ticket = wait_for_game(gateway, refused);
    } catch (const lanista::GatewayError& error) {
      --begun;
      std::fprintf(stderr, "%s\n", error.what());
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }
}

int main(int count, char** given) {
  Options options;
  for (int at = 1; at < count; ++at) {
    const std::string word = given[at];
    if (word == "--tables" && at + 1 < count) options.tables = std::atoi(given[++at]);
    else if (word == "--games" && at + 1 < count) options.games = std::atol(given[++at]);
    else if (word == "--against-solver") options.against_solver = true;
    else if (word.rfind("--", 0) != 0) options.url = word;
    else options.url.clear(), at = count;
  }
  if (options.url.empty()) return std::fprintf(stderr, "usage: %s URL [--tables N] [--games N] [--against-solver]\n", given[0]), 2;
  if (const char* token = std::getenv("LANISTA_GATEWAY_TOKEN")) options.token = token;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { stopping = true; });
  Score score;
  std::vector<std::thread> tables;
  for (int number = 0; number < options.tables; ++number) tables.emplace_back(table, std::cref(options), std::ref(score));
  for (auto& each : tables) each.join();
  std::printf("{\"games\": %ld, \"won\": %ld, \"drawn\": %ld, \"lost\": %ld}\n", score.games.load(), score.won.load(),
              score.drawn.load(), score.lost.load());
}
