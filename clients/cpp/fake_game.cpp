// A fake game that calls in: someone walks along a corridor until they reach an end or the time is up.
//
//     g++ -std=c++17 -O2 -o fake_game fake_game.cpp && ./fake_game http://127.0.0.1:8810 [GAMES]
//
// Try it against a fake agent: lanista fake agent --port 8810 --tick right
#include <cstdio>

#include "lanista_gamecore.hpp"

constexpr int length = 9, ticks = 20;

// One game; the walker's last place.
int play(lanista::Gateway& gateway, const std::string& session) {
  int place = length / 2;
  gateway.start(session, "{\"length\": " + std::to_string(length) + "}");
  for (int tick = 0; tick < ticks && place > 0 && place < length - 1; ++tick) {
    const std::string at = "{\"tick\": " + std::to_string(tick) + ", \"place\": " + std::to_string(place) + "}";
    const std::string reply = gateway.tick(session, at);
    place += reply == "right" ? 1 : reply == "left" ? -1 : 0;
  }
  gateway.end(session, "{\"place\": " + std::to_string(place) + "}");
  return place;
}

int main(int count, char** given) {
  if (count < 2) return std::fprintf(stderr, "usage: %s URL [GAMES]\n", given[0]), 2;
  try {
    lanista::Gateway gateway(given[1]);
    const int games = count > 2 ? std::atoi(given[2]) : 1;
    for (int number = 1; number <= games; ++number) {
      const std::string session = "fake-" + std::to_string(getpid()) + "-" + std::to_string(number);
      std::printf("game %d ended at %d\n", number, play(gateway, session));
    }
  } catch (const lanista::GatewayError& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
