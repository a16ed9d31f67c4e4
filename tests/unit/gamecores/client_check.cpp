// What the C++ client does with refusals, several agents, tokens and orders, for test_cpp_client.py.
#include <cstdio>

#include "lanista_gamecore.hpp"

int main(int count, char** given) {
  const std::string what = given[1], url = given[2], token = count > 3 ? given[3] : "";
  try {
    lanista::Gateway gateway(url, token, 10);
    if (what == "refusal") {
      try {
        gateway.tick("unknown", "");
      } catch (const lanista::Refused& refused) {
        std::printf("%d %s\n", refused.status, refused.what());
      }
      std::printf("%s\n", gateway.start("known").c_str());
    } else if (what == "agents") {
      lanista::Gateway other(url);
      const std::string red = lanista::agent_of("duel", "red"), blue = lanista::agent_of("duel", "blue");
      std::printf("%s ", gateway.start(red, "", "ticket-7").c_str());
      std::printf("%s\n", other.start(blue).c_str());
      gateway.send("tick", red, ""), other.send("tick", blue, "");
      std::printf("%s, ", gateway.receive().c_str());
      std::printf("%s\n", other.receive().c_str());
      gateway.end(red);
    } else if (what == "next") {
      const lanista::Order order = gateway.next(0, "chess");
      for (const char* key : {"ticket", "game", "seed", "nothing"}) std::printf("%s ", lanista::json_value(order.json, key).c_str());
      std::printf("[%s]\n", gateway.next(0).ticket.c_str());
    } else if (what == "large") {
      std::string body;
      for (int at = 0; at < 500000; ++at) body += static_cast<char>(at * 7);
      gateway.start("large");
      std::printf("%d\n", gateway.tick("large", body) == body);
    } else {
      std::printf("%s\n", gateway.start(what).c_str());
    }
  } catch (const lanista::Refused& refused) {
    return std::printf("refused %s after %g\n", refused.what(), refused.retry_after), 0;
  } catch (const lanista::GatewayError& error) {
    return std::printf("error %s\n", error.what()), 0;
  }
}
