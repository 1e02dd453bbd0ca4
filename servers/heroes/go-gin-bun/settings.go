package main

import (
	"fmt"
	"os"
	"strconv"
)

// settings are what the environment asks for.
type settings struct {
	pool       int  // connections open at most
	poolIdle   int  // connections kept open although idle
	requestLog bool // a line on standard output a request
}

func settingsFromEnv() (settings, error) {
	pool, err := strconv.Atoi(os.Getenv("POOL"))
	if err != nil {
		return settings{}, fmt.Errorf("POOL: %w", err)
	}
	idle := pool
	if text, ok := os.LookupEnv("POOL_IDLE"); ok {
		if idle, err = strconv.Atoi(text); err != nil {
			return settings{}, fmt.Errorf("POOL_IDLE: %w", err)
		}
	}
	log, err := strconv.ParseBool(os.Getenv("REQUEST_LOG"))
	if err != nil {
		return settings{}, fmt.Errorf("REQUEST_LOG: %w", err)
	}
	return settings{pool: pool, poolIdle: idle, requestLog: log}, nil
}
