"""Many machines: generators and servers on a Ray cluster. Ray is imported where it is used, and only there."""
