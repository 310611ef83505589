package testenv

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
)

// Ports handed out by Address. They lie below the range that Linux gives to
// outgoing connections (net.ipv4.ip_local_port_range, from 32768), so that no
// connection takes a port between Address and the server that listens on it.
const (
	firstPort = 20000
	lastPort  = 32767
)

// Address reserves a loopback address (127.0.0.1:port) for a server that the
// test starts, for as long as the test runs. A lock file per port keeps the tests
// of other packages, which run at the same time, from reserving the same one.
func Address(t testing.TB) string {
	t.Helper()
	locks := filepath.Join(os.TempDir(), fmt.Sprintf("observatory-test-ports-%d", os.Getuid()))
	if err := os.MkdirAll(locks, 0o700); err != nil {
		t.Fatal(err)
	}
	const ports = lastPort - firstPort + 1
	for i := range ports {
		port := firstPort + (os.Getpid()+i)%ports // another process begins elsewhere
		lock := flock.New(filepath.Join(locks, fmt.Sprint(port)))
		held, err := lock.TryLock()
		if err != nil {
			t.Fatal(err)
		}
		if !held {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
		if err != nil {
			_ = lock.Unlock() // another program listens there
			continue
		}
		_ = listener.Close()
		t.Cleanup(func() { _ = lock.Unlock() })
		return address
	}
	t.Fatalf("no free port from %d to %d", firstPort, lastPort)
	return ""
}
