"""bombardier's help. Flags, columns and order are bombardier's; descriptions are ours."""

USAGE = """\
usage: bombardier [<flags>] <url>

HTTP load on a server, as bombardier offers it, from Assay's engine

Flags:
      --help                  Print this.
      --version               Print the version.
  -c, --connections=125       Connections kept busy
  -t, --timeout=2s            Longest wait for an answer
  -l, --latencies             Print percentiles of the latency, too
  -m, --method=GET            Request method
  -b, --body=""               Request body
  -f, --body-file=""          File that holds the body
  -s, --stream                Send the body in chunks
      --cert=""               PEM file of the client's certificate
      --key=""                PEM file of its key
  -k, --insecure              Accept any certificate
  -a, --disableKeepAlives     One request on each connection (clients of net/http)
  -H, --header="K: V" ...     Send this header, too (may be repeated)
  -n, --requests=[pos. int.]  End after so many requests
  -d, --duration=10s          End after so long
  -r, --rate=[pos. int.]      Requests a second, in all
      --fasthttp              Send what fasthttp sends
      --http1                 Send what net/http sends
      --http2                 HTTP/2 to an https URL: one connection, its streams the <connections>
  -p, --print=<spec>          What to print, with commas: intro (i), progress (p), result (r)
  -q, --no-print              Print nothing
  -o, --format=<spec>         plain-text (pt) or json (j)

Args:
  <url>  Where the load goes; http where no scheme is written

"""
