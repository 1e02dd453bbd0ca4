# frozen_string_literal: true

bind "tcp://#{ENV.fetch("HOST")}:#{ENV.fetch("PORT")}"

# Ruby runs one thread at a time in a process, so Puma uses further cores by further workers. A
# cluster of one would be a second process for nothing: Puma itself advises single mode there.
processes = Integer(ENV.fetch("WORKERS"))
workers processes if processes > 1
preload_app! if processes > 1

threads_max = Integer(ENV.fetch("THREADS"))
threads threads_max, threads_max

# Whoever stops us allows five seconds.
force_shutdown_after 2
worker_shutdown_timeout 3
raise_exception_on_sigterm false
