"""Many machines: generators and servers on a Ray cluster. Only `calls` imports Ray, where it is used."""
