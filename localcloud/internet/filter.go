package internet

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// networkHeader is the offset at which a filter reads a packet's IP header
// (SKF_NET_OFF in linux/filter.h, which is negative).
const networkHeader = 0xfff00000

// sourceAddress is the offset of the source in an IPv4 header (RFC 791).
const sourceAddress = 12

// wholePacket is a filter's result for a packet that passes: more bytes than any has.
const wholePacket = 1 << 18

// admitOnly makes the kernel drop what arrives at a socket from other networks than
// these, before there is a connection: as from a security group, they get no answer.
func admitOnly(raw syscall.RawConn, sources []netip.Prefix) error {
	program, err := sourceFilter(sources)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, 0, len(program))
	for _, in := range program {
		filter = append(filter, unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K})
	}
	attach := func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
	}
	if controlErr := raw.Control(attach); controlErr != nil {
		return controlErr
	}
	if err != nil {
		return fmt.Errorf("attach a filter of source addresses: %w", err)
	}
	return nil
}

// sourceFilter passes packets from the IPv4 networks among sources, and drops all
// others.
func sourceFilter(sources []netip.Prefix) ([]bpf.RawInstruction, error) {
	var program []bpf.Instruction
	for _, s := range sources {
		if !s.Addr().Is4() {
			continue
		}
		network := s.Masked().Addr().As4()
		program = append(program,
			bpf.LoadAbsolute{Off: networkHeader + sourceAddress, Size: 4},
			bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: binary.BigEndian.Uint32(net.CIDRMask(s.Bits(), 32))},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: binary.BigEndian.Uint32(network[:]), SkipTrue: 1},
			bpf.RetConstant{Val: wholePacket},
		)
	}
	assembled, err := bpf.Assemble(append(program, bpf.RetConstant{Val: 0}))
	if err != nil {
		return nil, fmt.Errorf("filter of %v: %w", sources, err)
	}
	return assembled, nil
}
