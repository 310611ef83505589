package loopback

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// maxHead is more than any client's request line and headers.
const maxHead = 64 << 10

// preface begins a connection of HTTP/2 without TLS, which browsers do not speak (RFC 9113, 3.4).
const preface = "PRI * HTTP/2.0\r\n"

// handshake begins a connection of TLS (RFC 8446, 5.1: a record of this type).
const handshake = 0x16

// readHead reads the beginning of a connection and returns it. It fails for an HTTP request to
// another host, after the answer. TLS, whose certificate has the server's name, and HTTP/2 pass;
// all else must be a request of HTTP/1, whatever its method: servers take any word for one. It
// waits for as long as the server's own deadlines let it: clients open connections that they do
// not need yet.
func readHead(conn net.Conn) ([]byte, error) {
	head, buffer := []byte(nil), make([]byte, 4<<10)
	for {
		n, err := conn.Read(buffer)
		head = append(head, buffer[:n]...)
		if len(head) > 0 && head[0] == handshake || bytes.HasPrefix(head, []byte(preface)) {
			break
		}
		if at := bytes.Index(head, []byte("\r\n\r\n")); at >= 0 {
			if status, why := fault(head[:at+4]); status != 0 {
				return nil, refuse(conn, status, why)
			}
			break
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // as a read of the connection
		}
		if len(head) > maxHead {
			return nil, refuse(conn, http.StatusRequestHeaderFieldsTooLarge, "the headers have more than 64 KiB")
		}
	}
	return head, nil
}

// fault returns with which status and why a request is refused; 0 if it is not.
func fault(head []byte) (status int, why string) {
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	if !isOwn(request.Host) {
		return http.StatusMisdirectedRequest, fmt.Sprintf("this is the local cloud, and not %q: use 127.0.0.1", request.Host)
	}
	return 0, ""
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

// refuse answers a request, and returns the error of the connection.
func refuse(conn net.Conn, status int, why string) error {
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
		status, http.StatusText(status), len(why)+1, why) // the client may be gone
	_ = conn.Close()
	return net.ErrClosed
}
