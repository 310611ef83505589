package internet_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/internet"
	"github.com/emr-observatory/emr-observatory/localcloud/region/regiontest"
)

func TestMain(m *testing.M) { os.Exit(regiontest.Main(m)) }

var openInternet = sync.OnceValues(internet.Open)

// openWorkstation returns the region's internet, without any mapping.
func openWorkstation(t *testing.T) *internet.Internet {
	t.Helper()
	regiontest.Region(t)
	i, err := openInternet()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, i.Map(nil)) })
	return i
}

// serve starts a server at a private address. It answers every line, and says who
// asks.
func serve(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", regiontest.Gateway+":0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = fmt.Fprintf(conn, "hello\n")
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String())
}

// Elastic IPs of the tests.
const (
	elasticIP = "203.0.113.7"
	anotherIP = "203.0.113.8"
)

// mapped returns an Elastic IP of a server that admits networks to its port.
func mapped(public string, server netip.AddrPort, sources ...string) internet.Address {
	a := internet.Address{Public: netip.MustParseAddr(public), Private: server.Addr()}
	for _, s := range sources {
		a.Admitted = append(a.Admitted, internet.Admission{First: server.Port(), Last: server.Port(), Source: netip.MustParsePrefix(s)})
	}
	return a
}

// dial connects from the workstation to a port of an address and returns the server's
// greeting.
func dial(t *testing.T, i *internet.Internet, address string, port uint16) (net.Conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	conn, err := i.Dial(ctx, "tcp", netip.AddrPortFrom(netip.MustParseAddr(address), port).String())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, exchange(conn, "", "hello\n")
}

// exchange sends a text and expects an answer.
func exchange(conn net.Conn, send, want string) error {
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, send); err != nil {
		return err
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil {
		return err
	}
	if string(got) != want {
		return fmt.Errorf("answered %q", got)
	}
	return nil
}

const workstation = internet.WorkstationAddress + "/32"

// What the program does over the network begins at the workstation, so that a private
// address in it fails.
func TestWorkstationReachesOnlyPublicAddresses(t *testing.T) {
	i, server := openWorkstation(t), serve(t)
	inside, err := net.Dial("tcp", server.String())
	require.NoError(t, err, "the region itself reaches private addresses")
	require.NoError(t, inside.Close())
	for _, private := range []string{regiontest.Gateway, regiontest.PodsGateway} {
		_, err = dial(t, i, private, server.Port())
		require.ErrorContains(t, err, "connect from 192.88.99.10: dial tcp "+private)
		require.ErrorContains(t, err, "network is unreachable")
	}
	_, err = dial(t, i, elasticIP, server.Port())
	require.Error(t, err, "no instance has the address")
	_, err = i.Dial(t.Context(), "tcp", "localhost:80")
	require.ErrorContains(t, err, "connect from 192.88.99.10")

	require.NoError(t, i.Map([]internet.Address{mapped(elasticIP, server, workstation)}))
	_, err = dial(t, i, elasticIP, server.Port())
	require.NoError(t, err)
}

func TestCommandsRunOnTheWorkstation(t *testing.T) {
	i, server := openWorkstation(t), serve(t)
	require.NoError(t, i.Map([]internet.Address{mapped(elasticIP, server, workstation)}))
	connect := func(address string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", `exec 3<>"/dev/tcp/$0/$1" && head -1 <&3`, address, fmt.Sprint(server.Port()))
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, i.Start(cmd))
		err := cmd.Wait()
		return out.String(), err
	}
	out, err := connect(elasticIP)
	require.NoError(t, err, out)
	require.Equal(t, "hello\n", out)
	out, err = connect(regiontest.Gateway)
	require.Error(t, err)
	require.Contains(t, out, "Network is unreachable")
	require.ErrorContains(t, i.Start(exec.Command("/no/such/program")), "start on the workstation")
	inside, err := net.Dial("tcp", server.String())
	require.NoError(t, err, "this process stays in the region")
	require.NoError(t, inside.Close())
}

// A security group drops what it does not admit: who knocks gets no answer at all.
func TestGatewayAdmitsWhatSecurityGroupsAdmit(t *testing.T) {
	i, server := openWorkstation(t), serve(t)
	for name, c := range map[string]struct {
		sources []string
		admits  bool
	}{
		"the address":                 {[]string{workstation}, true},
		"its network":                 {[]string{"192.88.99.0/24"}, true},
		"everybody":                   {[]string{"0.0.0.0/0"}, true},
		"others, and the address":     {[]string{"198.51.100.0/24", "2001:db8::/32", workstation}, true},
		"others":                      {[]string{"198.51.100.0/24", "192.88.99.11/32"}, false},
		"everybody, but over IPv6":    {[]string{"::/0"}, false},
		"a private network":           {[]string{"10.0.0.0/16"}, false},
		"nobody":                      {nil, false},
		"another half of its network": {[]string{"192.88.99.128/25"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, i.Map([]internet.Address{mapped(elasticIP, server, c.sources...)}))
			_, err := dial(t, i, elasticIP, server.Port())
			require.Equal(t, c.admits, err == nil, "%v", err)
		})
	}
	require.NoError(t, i.Map([]internet.Address{mapped(elasticIP, server, "198.51.100.0/24")}))
	_, err := dial(t, i, elasticIP, server.Port())
	require.ErrorContains(t, err, "i/o timeout", "dropped, not refused")
	require.NoError(t, i.Map([]internet.Address{mapped(elasticIP, server, workstation)}))
	_, err = dial(t, i, elasticIP, server.Port()+1)
	require.Error(t, err, "a port that no rule names")
}

// EC2 lets tracked connections go on when a rule is deleted, but none without the
// address.
func TestConnectionsEndWithTheirMapping(t *testing.T) {
	i, server := openWorkstation(t), serve(t)
	require.NoError(t, i.Map([]internet.Address{mapped(elasticIP, server, workstation)}))
	conn, err := dial(t, i, elasticIP, server.Port())
	require.NoError(t, err)
	require.NoError(t, i.Map([]internet.Address{mapped(elasticIP, server, "198.51.100.0/24")}))
	require.NoError(t, exchange(conn, "still there?\n", "still there?\n"))
	_, err = dial(t, i, elasticIP, server.Port())
	require.Error(t, err)

	require.NoError(t, i.Map([]internet.Address{mapped(anotherIP, server, workstation)}))
	require.Error(t, exchange(conn, "and now?\n", "and now?\n"))
	_, err = dial(t, i, elasticIP, server.Port())
	require.Error(t, err, "the address is released")
	_, err = dial(t, i, anotherIP, server.Port())
	require.NoError(t, err)
}

func TestGatewayFollowsTheInstance(t *testing.T) {
	i, first, second := openWorkstation(t), serve(t), serve(t)
	moved := mapped(elasticIP, first, workstation)
	require.NoError(t, i.Map([]internet.Address{moved}))
	_, err := dial(t, i, elasticIP, first.Port())
	require.NoError(t, err)
	moved.Private = netip.MustParseAddr("10.0.250.250") // where nothing is
	require.NoError(t, i.Map([]internet.Address{moved}))
	_, err = dial(t, i, elasticIP, first.Port())
	require.Error(t, err)
	require.NoError(t, i.Map([]internet.Address{mapped(elasticIP, second, workstation)}))
	_, err = dial(t, i, elasticIP, second.Port())
	require.NoError(t, err)
}

func TestTooManyPortsAreRefused(t *testing.T) {
	i, server := openWorkstation(t), serve(t)
	wide := mapped(elasticIP, server)
	wide.Admitted = []internet.Admission{{First: 0, Last: 65535, Source: netip.MustParsePrefix("0.0.0.0/0")}}
	err := i.Map([]internet.Address{wide, mapped(anotherIP, server, workstation)})
	require.ErrorContains(t, err, elasticIP+": security groups admit 65536 ports or more")
	_, err = dial(t, i, anotherIP, server.Port())
	require.NoError(t, err, "the others are mapped")
}
