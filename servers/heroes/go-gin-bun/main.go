// Heroes answers GET /heroes/{id} with one row of the heroes table: Gin in front, Bun behind.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/driver/pgdriver"
)

// shutdownGrace bounds the wait for requests in flight; whoever stops us allows five seconds.
const shutdownGrace = 3 * time.Second

func main() {
	version := flag.Bool("version", false, "print the versions and exit")
	flag.Parse()
	if *version {
		fmt.Printf("Gin %s, Bun %s, %s\n", gin.Version, bun.Version(), runtime.Version())
		return
	}
	s, err := settingsFromEnv()
	if err == nil {
		err = serve(s)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve answers requests until SIGTERM or Ctrl-C.
func serve(s settings) error {
	db := bun.NewDB(openPool(s), pgdialect.New())
	defer db.Close()
	server := &http.Server{
		Addr:    net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")),
		Handler: newRouter(&heroController{heroes: db}, s.requestLog),
	}

	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	stopped := make(chan error, 1)
	go func() {
		<-stop.Done()
		grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
		defer cancel()
		err := server.Shutdown(grace)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		stopped <- err
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// openPool returns the connection pool of database/sql; it connects with the first query.
func openPool(s settings) *sql.DB {
	pool := sql.OpenDB(pgdriver.NewConnector(
		pgdriver.WithDSN(os.Getenv("DATABASE_URL")),
		pgdriver.WithInsecure(true),
	))
	pool.SetMaxOpenConns(s.pool)
	// What is open beyond this is closed as soon as it is idle, and opened anew for the next query.
	pool.SetMaxIdleConns(s.poolIdle)
	return pool
}

// newRouter is gin.Default(), its request log being a choice.
func newRouter(heroes *heroController, requestLog bool) *gin.Engine {
	router := gin.New()
	if requestLog {
		router.Use(gin.Logger())
	}
	router.Use(gin.Recovery())
	router.GET("/heroes/:id", heroes.get)
	router.HEAD("/heroes/:id", heroes.get)
	return router
}
