// Heroes answers GET /heroes/{id} with one row of the heroes table: fasthttp in front, pgx behind.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/fasthttp/router"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"
)

// shutdownGrace bounds the wait for requests in flight; whoever stops us allows five seconds.
const shutdownGrace = 3 * time.Second

func main() {
	version := flag.Bool("version", false, "print the versions and exit")
	flag.Parse()
	if *version {
		fmt.Printf("fasthttp %s, pgx %s, %s\n",
			moduleVersion("github.com/valyala/fasthttp"), moduleVersion("github.com/jackc/pgx/v5"), runtime.Version())
		return
	}
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

// serve answers requests until SIGTERM or Ctrl-C.
func serve() error {
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	pool, err := openPool(stop)
	if err != nil {
		return err
	}
	defer pool.Close()
	controller := &heroController{heroes: pool}
	routes := router.New()
	routes.GET("/heroes/{id}", controller.get)
	routes.HEAD("/heroes/{id}", controller.get)
	server := &fasthttp.Server{
		Handler:               routes.Handler,
		NoDefaultServerHeader: os.Getenv("SERVER_HEADER") == "false",
		// Lets the shutdown end connections that wait for a next request.
		CloseOnShutdown: true,
		IdleTimeout:     time.Minute,
	}

	stopped := make(chan error, 1)
	go func() {
		<-stop.Done()
		grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
		defer cancel()
		stopped <- server.ShutdownWithContext(grace)
	}()
	if err := server.ListenAndServe(net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))); err != nil {
		return err
	}
	return <-stopped
}

// openPool reads DATABASE_URL, POOL (connections at most) and POOL_IDLE (kept open; all of them by default).
func openPool(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Sscan(os.Getenv("POOL"), &config.MaxConns); err != nil {
		return nil, fmt.Errorf("POOL: %w", err)
	}
	config.MinConns = config.MaxConns
	if idle, ok := os.LookupEnv("POOL_IDLE"); ok {
		if _, err := fmt.Sscan(idle, &config.MinConns); err != nil {
			return nil, fmt.Errorf("POOL_IDLE: %w", err)
		}
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// moduleVersion is the version of a module that this program was built with.
func moduleVersion(path string) string {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == path {
			return module.Version
		}
	}
	return "unknown"
}
