// Protocols answers GET /small and GET /large over HTTP/1.1 and HTTP/2 behind TLS, and over HTTP/3 on the UDP port of
// the same number.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// shutdownGrace bounds the wait for requests in flight; whoever stops us allows five seconds.
const shutdownGrace = 3 * time.Second

// mostStreams is what net/http allows a connection of HTTP/2; HTTP/3 is allowed the same.
const mostStreams = 250

const quicModule = "github.com/quic-go/quic-go"

func main() {
	version := flag.Bool("version", false, "print the versions and exit")
	flag.Parse()
	if *version {
		fmt.Printf("net/http of %s, quic-go %s\n", runtime.Version(), moduleVersion(quicModule))
		return
	}
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

// serve answers requests over all three until SIGTERM or Ctrl-C.
func serve() error {
	certificate, err := ownCertificate(os.Getenv("HOST"))
	if err != nil {
		return err
	}
	address := net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))
	handler := routes()
	overTCP := &http.Server{
		Addr:      address,
		Handler:   handler,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: mostStreams},
	}
	overUDP := &http3.Server{
		Addr:       address,
		Handler:    handler,
		TLSConfig:  http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{certificate}}),
		QUICConfig: &quic.Config{MaxIncomingStreams: mostStreams},
	}

	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	ended := make(chan error, 2)
	go func() { ended <- overTCP.ListenAndServeTLS("", "") }()
	go func() { ended <- overUDP.ListenAndServe() }()
	select {
	case err := <-ended:
		return err
	case <-stop.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	// Clients of HTTP/3 need not leave when they are asked to; those that stay are left.
	return errors.Join(overTCP.Shutdown(grace), overUDP.Close())
}

// routes are the two constants of the contract.
func routes() http.Handler {
	mux := http.NewServeMux()
	for path, body := range map[string][]byte{
		"/small": []byte("Hello, World!"),
		"/large": bytes.Repeat([]byte("x"), 100_000),
	} {
		length := strconv.Itoa(len(body))
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			// What other servers say unasked: equal work for equal bytes.
			w.Header().Set("Server", "net/http")
			if r.ProtoMajor == 1 {
				w.Header().Set("Connection", "keep-alive")
			}
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Content-Length", length)
			w.Write(body)
		})
	}
	return mux
}

// ownCertificate makes a certificate that signs itself.
func ownCertificate(host string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		DNSNames:     []string{"localhost"},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, err
}

// moduleVersion is that of a module that this program was built with.
func moduleVersion(path string) string {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, module := range built.Deps {
			if module.Path == path {
				return module.Version
			}
		}
	}
	return "of an unknown version"
}
