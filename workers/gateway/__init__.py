"""Games that call in: sessions over HTTP, TCP and gRPC, played by agents and models in this process."""
