// Asks a server over HTTP/3 with quic-go, the way tests/e2e/test_http3_server.py says: so many requests on each of so
// many connections, so many at once. It prints each kind of answer with how often it came, as lines of JSON.
package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"

	"github.com/quic-go/quic-go/http3"
)

type answer struct {
	Status  int
	Proto   string
	Bytes   int
	Length  int64
	Type    string
	Problem string
}

func ask(client *http.Client, method, url string, body []byte) answer {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return answer{Problem: err.Error()}
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{Problem: err.Error()}
	}
	defer response.Body.Close()
	read, err := io.Copy(io.Discard, response.Body)
	if err != nil {
		return answer{Problem: err.Error()}
	}
	return answer{response.StatusCode, response.Proto, int(read), response.ContentLength, response.Header.Get("Content-Type"), ""}
}

func main() {
	method := flag.String("method", "GET", "")
	connections := flag.Int("connections", 1, "")
	streams := flag.Int("streams", 1, "")
	requests := flag.Int("requests", 1, "of each stream")
	size := flag.Int("body", 0, "bytes of each request's body")
	flag.Parse()
	found, body := map[answer]int{}, bytes.Repeat([]byte("b"), *size)
	var lock sync.Mutex
	var all sync.WaitGroup
	for range *connections {
		transport := &http3.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		defer transport.Close()
		client := &http.Client{Transport: transport}
		for range *streams {
			all.Go(func() {
				for range *requests {
					one := ask(client, *method, flag.Arg(0), body)
					lock.Lock()
					found[one]++
					lock.Unlock()
				}
			})
		}
	}
	all.Wait()
	for one, times := range found {
		line, err := json.Marshal(struct {
			answer
			Times int
		}{one, times})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(line))
	}
}
