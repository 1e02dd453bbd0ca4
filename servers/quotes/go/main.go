// Quotes answers GET /franklin-says with one of Benjamin Franklin's proverbs, drawn at random.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// shutdownGrace bounds the wait for requests in flight; whoever stops us allows five seconds.
const shutdownGrace = 3 * time.Second

func main() {
	version := flag.Bool("version", false, "print the versions and exit")
	flag.Parse()
	if *version {
		fmt.Printf("net/http of %s\n", runtime.Version())
		return
	}
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

// serve answers requests until SIGTERM or Ctrl-C.
func serve() error {
	quotes, err := readQuotes(filepath.Join(os.Getenv("CONTRACT_DIR"), "quotes.txt"))
	if err != nil {
		return err
	}
	http.HandleFunc("GET /franklin-says", func(w http.ResponseWriter, _ *http.Request) {
		// Exactly the type that net/http would find by itself; naming it saves the sniffing.
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write(quotes[rand.IntN(len(quotes))])
	})
	server := &http.Server{Addr: net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))}

	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	stopped := make(chan error, 1)
	go func() {
		<-stop.Done()
		grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
		defer cancel()
		stopped <- server.Shutdown(grace)
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// readQuotes returns the lines of the file, each with its newline.
func readQuotes(path string) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	quotes := bytes.SplitAfter(bytes.TrimRight(text, "\n"), []byte("\n"))
	if len(quotes[0]) == 0 {
		return nil, fmt.Errorf("%s holds no quotes", path)
	}
	quotes[len(quotes)-1] = append(bytes.Clone(quotes[len(quotes)-1]), '\n')
	return quotes, nil
}
