package facts

import (
	_ "embed" // the data files
	"fmt"
	"strings"
	"sync"
)

// ServiceFile is the file of what a stack pays beside its instances, and of the volumes
// that EMR attaches unasked.
type ServiceFile struct {
	Source        string          `json:"source"`
	Date          string          `json:"date"` // when somebody read the sources
	Refresh       string          `json:"refresh"`
	VolumesSource string          `json:"volumesSource"` // of Root and Volumes
	Root          DefaultVolume   `json:"root"`
	Volumes       []DefaultVolume `json:"volumes"`
	Services      []ServicePrice  `json:"services"`
}

// ServicePrice is the price of one item in one region.
type ServicePrice struct {
	Item     string   `json:"item"`
	Region   string   `json:"region"`
	Unit     string   `json:"unit"`
	USD      MicroUSD `json:"usd"`
	Included int      `json:"included,omitempty"` // what a volume has without paying for it
	Source   string   `json:"source"`
	Date     string   `json:"date"` // of the price; if the source names none, when it was read
}

// DefaultVolume is the volumes of one kind that EMR attaches to an instance without being
// asked: the root volume, or those of the types of a size.
type DefaultVolume struct {
	Size  string `json:"size,omitempty"` // the instance size, such as xlarge; "" = every one
	Type  string `json:"type"`
	Count int    `json:"count"`
	GiB   int    `json:"gib"` // of each
}

//go:embed services.json
var servicesJSON []byte

// ServicesFile returns the file of services, whose date an estimate has to name.
var ServicesFile = sync.OnceValue(func() ServiceFile { return parse[ServiceFile]("services.json", servicesJSON) })

// Services are the prices of what a stack has beside its instances.
type Services struct {
	Volumes               map[string]VolumePrice // by type: gp2, gp3, io1, st1, sc1, standard
	NATGatewayHour        MicroUSD               // USD per hour, without the data that it handles
	PublicIPv4Hour        MicroUSD               // USD per address and hour, in use or idle
	InterfaceEndpointHour MicroUSD               // USD per endpoint, zone and hour, without data
	KMSKeyMonth           MicroUSD               // USD per key and month, without requests and rotations
}

// VolumePrice is what an EBS volume of a type costs, in USD per month.
type VolumePrice struct {
	GiB, IOPS, MiBs            MicroUSD // per GiB, IOPS and MiB/s; 0 = not charged
	IncludedIOPS, IncludedMiBs int
}

// Month returns what a volume costs in a month, in USD: of so many GiB, with so many IOPS
// and MiB/s provisioned. Of these, 0 is the type's own.
func (v VolumePrice) Month(gib, iops, mibs int) MicroUSD {
	return v.GiB*MicroUSD(gib) + v.IOPS*MicroUSD(max(0, iops-v.IncludedIOPS)) + v.MiBs*MicroUSD(max(0, mibs-v.IncludedMiBs))
}

// ServicesOf returns the prices of a region (services.json, copied by hand). It is false
// for a region of which nobody has copied any.
func ServicesOf(region string) (Services, bool) {
	out, found := Services{Volumes: map[string]VolumePrice{}}, false
	for _, p := range ServicesFile().Services {
		if p.Region == region {
			found = true
			out.set(p)
		}
	}
	return out, found
}

// set enters one price. The tests read the file: an item without a place cannot be there.
func (s *Services) set(p ServicePrice) {
	switch p.Item {
	case "NAT gateway":
		s.NATGatewayHour = p.USD
		return
	case "public IPv4 address":
		s.PublicIPv4Hour = p.USD
		return
	case "interface endpoint":
		s.InterfaceEndpointHour = p.USD
		return
	case "KMS key":
		s.KMSKeyMonth = p.USD
		return
	}
	volume, part, _ := strings.Cut(p.Item, " ")
	v := s.Volumes[volume]
	switch part {
	case "":
		v.GiB = p.USD
	case "IOPS":
		v.IOPS, v.IncludedIOPS = p.USD, p.Included
	case "throughput":
		v.MiBs, v.IncludedMiBs = p.USD, p.Included
	default:
		panic(fmt.Sprintf("facts: services.json: no place for item %q", p.Item))
	}
	s.Volumes[volume] = v
}

// RootVolume returns the root volume that EMR gives an instance unless configured.
func RootVolume() DefaultVolume { return ServicesFile().Root }

// DefaultVolumes returns the EBS volumes that EMR attaches to an instance whose
// configuration has none, beside the root volume (EMR Management Guide, "Instance storage
// options and behavior"): none, if the type has instance stores. It is false for types
// that EMR does not take, and for sizes that the guide does not list, such as 32xlarge.
func DefaultVolumes(instanceType string) (DefaultVolume, bool) {
	t, known := InstanceTypeNamed(instanceType)
	if !known || t.Stores != nil {
		return DefaultVolume{}, known
	}
	_, size, _ := strings.Cut(instanceType, ".")
	for _, v := range ServicesFile().Volumes {
		if v.Size == size {
			return v, true
		}
	}
	return DefaultVolume{}, false
}
