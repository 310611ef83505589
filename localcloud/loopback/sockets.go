package loopback

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// Columns of /proc/net/tcp (proc(5)).
const (
	columnLocal  = 1
	columnRemote = 2
	columnUser   = 7
	columnInode  = 9
)

// owner returns the user of the socket that connects client to server. A socket that no process
// has any more is not found: its user reads as root.
func owner(table *os.File, client, server netip.AddrPort) (user int, found bool) {
	lines := bufio.NewScanner(io.NewSectionReader(table, 0, 1<<40)) // made at each read from 0
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) <= columnInode || f[columnInode] == "0" {
			continue
		}
		if parseAddress(f[columnLocal]) == client && parseAddress(f[columnRemote]) == server {
			user, err := strconv.Atoi(f[columnUser])
			return user, err == nil
		}
	}
	return 0, false
}

// parseAddress reads an address in hexadecimal, as words in the machine's byte order, and its port.
// An IPv6 socket that is connected over IPv4 has the IPv4 address.
func parseAddress(text string) netip.AddrPort {
	words, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	raw, hexErr := hex.DecodeString(words)
	if err != nil || hexErr != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}
	}
	for at := 0; at < len(raw); at += 4 {
		binary.NativeEndian.PutUint32(raw[at:], binary.BigEndian.Uint32(raw[at:]))
	}
	address, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(address.Unmap(), uint16(number))
}
