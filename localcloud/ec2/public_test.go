package ec2_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/localcloud/internet"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

var openInternet = sync.OnceValues(internet.Open)

const (
	elasticIP  = "203.0.113.9"
	serverPort = 8000
)

// reachable is an EC2 with one instance that serves HTTP and has all that it needs to
// be reached from the workstation: parts by id.
type reachable struct {
	*service
	outside *internet.Internet
	machine *region.Machine
	parts   map[string]func(*ec2.Service) error
}

func newReachable(t *testing.T, id string) *reachable {
	t.Helper()
	r := &reachable{service: newService(t)}
	var err error
	r.outside, err = openInternet()
	require.NoError(t, err)
	r.Map = r.outside.Map
	t.Cleanup(func() { require.NoError(t, r.outside.Map(nil)) })
	r.machine, err = r.launch(id, "")
	require.NoError(t, err)
	unit := "[Service]\nExecStart=/usr/bin/python3 -m http.server 8000 --directory /etc\n"
	require.NoError(t, os.WriteFile(filepath.Join(r.machine.Root, "etc/systemd/system/web.service"), []byte(unit), 0o600))
	sh(t, r.machine, "systemctl enable --now web")
	attached := ec2.Interface{Address: r.machine.Address(), SubnetID: "subnet-public", GroupIDs: []string{"sg-other", "sg-control"}}
	r.parts = map[string]func(*ec2.Service) error{
		r.networkIf: func(s *ec2.Service) error { return s.PutInterface(r.networkIf, attached) },
		"sgr-1": func(s *ec2.Service) error {
			return s.PutIngressRule("sgr-1", ec2.IngressRule{GroupID: "sg-control", Protocol: "tcp", First: serverPort, Last: serverPort,
				Source: internet.WorkstationAddress + "/32"})
		},
		"r-1": func(s *ec2.Service) error {
			return s.PutRoute("r-1", ec2.Route{TableID: "rtb-public", Destination: "0.0.0.0/0", GatewayID: "igw-1"})
		},
		"rtbassoc-1": func(s *ec2.Service) error {
			return s.PutTableAssociation("rtbassoc-1", ec2.TableAssociation{SubnetID: "subnet-public", TableID: "rtb-public"})
		},
		"eipalloc-1": func(s *ec2.Service) error { return s.PutAddress("eipalloc-1", elasticIP) },
		"eipassoc-1": func(s *ec2.Service) error {
			return s.PutAddressAssociation("eipassoc-1", ec2.AddressAssociation{AllocationID: "eipalloc-1", InterfaceID: r.networkIf})
		},
	}
	for _, put := range r.parts {
		require.NoError(t, put(r.Service))
	}
	return r
}

// get requests a page of the instance from the workstation.
func (r *reachable) get(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: r.outside.Dial}}
	url := "http://" + net.JoinHostPort(elasticIP, "8000") + "/hostname"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func (r *reachable) requireAnswer(t *testing.T) {
	t.Helper()
	testenv.Eventually(t, func() bool { return r.get(t.Context()) == nil }, testTimeout, 50*time.Millisecond)
}

// An Elastic IP leads to an instance only while all that EC2 asks for exists. The
// instance does not know the address.
func TestElasticIPLeadsToTheInstance(t *testing.T) {
	r := newReachable(t, "i-public")
	r.requireAnswer(t)
	require.NotContains(t, sh(t, r.machine, "cat /proc/net/fib_trie"), elasticIP, "EC2 maps at the gateway")
	address, err := r.PublicAddress()
	require.NoError(t, err)
	require.Equal(t, elasticIP, address.String())
	for id, put := range r.parts {
		t.Run("without "+id, func(t *testing.T) {
			require.NoError(t, r.Forget(id))
			require.Error(t, r.get(t.Context()))
			_, err := r.PublicAddress()
			require.Equal(t, id == "sgr-1", err == nil, "only the rule is not needed for the address: %v", err)
			require.NoError(t, put(r.Service))
			r.requireAnswer(t)
		})
	}
	require.NoError(t, r.Forget("eipassoc-1"))
	_, err = r.PublicAddress()
	require.ErrorContains(t, err, "controlNode.access public")
}

// What EC2 would not let through does not lead to the instance either.
func TestRoutesAndRulesDecideWhoReachesTheInstance(t *testing.T) {
	r := newReachable(t, "i-refusing")
	r.requireAnswer(t)
	rule := ec2.IngressRule{GroupID: "sg-control", Protocol: "tcp", First: serverPort, Last: serverPort, Source: "198.51.100.0/24"}
	route := ec2.Route{TableID: "rtb-public", Destination: "0.0.0.0/0", GatewayID: "igw-1"}
	for name, c := range map[string]struct {
		id  string
		put func() error
	}{
		"another network": {"sgr-1", func() error { return r.PutIngressRule("sgr-1", rule) }},
		"another group": {"sgr-1", func() error {
			return r.PutIngressRule("sgr-1", ec2.IngressRule{GroupID: "sg-master", Protocol: "tcp", First: serverPort, Last: serverPort,
				Source: "0.0.0.0/0"})
		}},
		"another port": {"sgr-1", func() error {
			return r.PutIngressRule("sgr-1", ec2.IngressRule{GroupID: "sg-control", Protocol: "tcp", First: 443, Last: 443, Source: "0.0.0.0/0"})
		}},
		"another protocol": {"sgr-1", func() error {
			return r.PutIngressRule("sgr-1", ec2.IngressRule{GroupID: "sg-control", Protocol: "udp", First: serverPort, Last: serverPort,
				Source: "0.0.0.0/0"})
		}},
		"a group instead of a network": {"sgr-1", func() error {
			return r.PutIngressRule("sgr-1", ec2.IngressRule{GroupID: "sg-control", Protocol: "tcp", First: serverPort, Last: serverPort})
		}},
		"a route to a NAT gateway": {"r-1", func() error {
			route.GatewayID = ""
			return r.PutRoute("r-1", route)
		}},
		"a private subnet": {r.networkIf, func() error {
			return r.PutInterface(r.networkIf, ec2.Interface{
				Address: r.machine.Address(), SubnetID: "subnet-private", GroupIDs: []string{"sg-control"},
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, c.put())
			require.Error(t, r.get(t.Context()))
			require.NoError(t, r.parts[c.id](r.Service))
			r.requireAnswer(t)
		})
	}
	everything := ec2.IngressRule{GroupID: "sg-control", Protocol: "-1", First: -1, Last: -1, Source: "0.0.0.0/0"}
	require.ErrorContains(t, r.PutIngressRule("sgr-2", everything), "at most 64")
	require.NoError(t, r.Forget("sgr-2"))
	require.ErrorContains(t, r.PutAddress("eipalloc-2", elasticIP), elasticIP+" belongs to eipalloc-1")
}

func TestElasticIPIsThereAgainAfterAPowerCut(t *testing.T) {
	r := newReachable(t, "i-again")
	r.requireAnswer(t)
	r.Region.Stop("i-again")
	require.NoError(t, r.outside.Map(nil))
	require.Error(t, r.get(t.Context()))
	require.NoError(t, newServiceOn(r.service).Open(t.Context()))
	r.requireAnswer(t)
}
