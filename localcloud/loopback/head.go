package loopback

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// maxHead is more than any client's request line and headers.
const maxHead = 64 << 10

// preface begins a connection of HTTP/2 without TLS, which browsers do not speak (RFC 9113, 3.4).
const preface = "PRI * HTTP/2.0\r\n"

// readHead reads the beginning of a connection and returns it. It fails for an HTTP request to
// another host, after the answer. What is not HTTP/1 passes: TLS has the server's name in its
// certificate, and browsers speak nothing else.
func readHead(conn net.Conn) ([]byte, error) {
	if err := conn.SetReadDeadline(time.Now().Add(headTimeout)); err != nil {
		return nil, err //nolint:wrapcheck // as a read of the connection
	}
	head, buffer := []byte(nil), make([]byte, 4<<10)
	for {
		n, err := conn.Read(buffer)
		head = append(head, buffer[:n]...)
		if n > 0 && !mayBeRequest(head) || bytes.HasPrefix(head, []byte(preface)) {
			break
		}
		if at := bytes.Index(head, []byte("\r\n\r\n")); at >= 0 {
			if host, ok := foreignHost(head[:at+4]); ok {
				return nil, refuse(conn, host)
			}
			break
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // as a read of the connection
		}
		if len(head) > maxHead {
			return nil, refuse(conn, "of more than 64 KiB of headers")
		}
	}
	return head, conn.SetReadDeadline(time.Time{}) //nolint:wrapcheck // as a read of the connection
}

// mayBeRequest reports whether bytes may begin an HTTP/1 request: with a method in capitals.
func mayBeRequest(head []byte) bool {
	method, _, _ := bytes.Cut(head, []byte(" "))
	const longest = len("PROPPATCH") + 8
	return len(method) <= longest && !slices.ContainsFunc(method, func(c byte) bool { return (c < 'A' || c > 'Z') && c != '-' })
}

// foreignHost returns the host that a request is for, if that is not this machine.
func foreignHost(head []byte) (string, bool) {
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
	if err != nil {
		return "that cannot be read", true
	}
	return request.Host, !isOwn(request.Host)
}

// isOwn reports whether a host, with or without a port, is this machine under a name that no DNS
// server can give to it.
func isOwn(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.IsLoopback()
}

// refuse answers a request for another host, and returns the error of the connection.
func refuse(conn net.Conn, host string) error {
	text := fmt.Sprintf("This is the local cloud, and no host %q: use 127.0.0.1.\n", host)
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		http.StatusMisdirectedRequest, http.StatusText(http.StatusMisdirectedRequest), len(text), text) // the client may be gone
	_ = conn.Close()
	return net.ErrClosed
}
