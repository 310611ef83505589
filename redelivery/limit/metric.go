package limit

import (
	"encoding/binary"
	"hash/maphash"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/emr-observatory/emr-observatory/platform"
)

// origin is what sends the items of a resource.
type origin struct {
	sent   bool // it has the attribute of the sender
	sender string
	hash   uint64 // of its other attributes
	size   int64  // of all, in bytes
}

func (l *Limiter) origin(entry []byte) (o origin, err error) {
	var attributes maphash.Hash
	attributes.SetSeed(l.seed)
	err = each(entry, func(number protowire.Number, value []byte) error {
		if number != fieldResource {
			return nil
		}
		o.size += int64(len(value))
		return each(value, func(number protowire.Number, attribute []byte) error {
			if number != fieldAttributes {
				return nil
			}
			key, text, err := attributeText(attribute)
			switch {
			case string(key) != platform.AttributeSender:
				_, _ = attributes.Write(attribute) // never fails
			case !o.sent: // the collector sets one
				o.sent, o.sender = true, string(text)
			}
			return err
		})
	})
	o.hash = attributes.Sum64()
	return o, err
}

// attributeText returns the key of an attribute, and its value if that is a string.
func attributeText(attribute []byte) (key, text []byte, err error) {
	err = each(attribute, func(number protowire.Number, value []byte) error {
		switch number {
		case fieldKey:
			key = value
		case fieldValue:
			return each(value, func(number protowire.Number, value []byte) error {
				if number == fieldString {
					text = value
				}
				return nil
			})
		}
		return nil
	})
	return key, text, err
}

// metric returns what is left of a metric. Its name and unit are in the name of a series, and whether a
// sum only grows.
func (l *Limiter) metric(o origin, metric []byte, u *use) ([]byte, error) {
	var name maphash.Hash
	name.SetSeed(l.seed)
	writeNumber(&name, o.hash)
	var kind protowire.Number
	err := fields(metric, func(number protowire.Number, raw, value []byte) error {
		if number == fieldName || number == fieldUnit {
			_, _ = name.Write(raw)
		}
		if _, data := dataPoints[number]; !data {
			return nil
		}
		kind = number
		writeNumber(&name, uint64(number))
		return fields(value, func(number protowire.Number, raw, _ []byte) error {
			if number != fieldDataPoints {
				_, _ = name.Write(raw)
			}
			return nil
		})
	})
	if err != nil || kind == 0 {
		return metric, err
	}
	of := name.Sum64()
	return edit(metric, kind, func(data []byte) ([]byte, error) {
		return edit(data, fieldDataPoints, func(point []byte) ([]byte, error) {
			hash, count, err := l.series(of, dataPoints[kind], point)
			if err != nil {
				return nil, err
			}
			u.items++
			if !u.share.admit(hash, count) {
				u.refused++
				return nil, nil
			}
			return point, nil
		})
	})
}

// series returns a hash of what names the series of a data point, and how many there are. The order of
// attributes is part of it, as it is for VictoriaMetrics' own limits.
func (l *Limiter) series(metric uint64, d dataPoint, point []byte) (hash uint64, count int64, err error) {
	var h maphash.Hash
	h.SetSeed(l.seed)
	writeNumber(&h, metric)
	count = d.series
	err = fields(point, func(number protowire.Number, raw, value []byte) error {
		switch number {
		case d.attributes, d.layout[0], d.layout[1]:
			_, _ = h.Write(raw)
		case d.bounds:
			_, _ = h.Write(raw)
			count += int64(len(value)) / 8
		case d.quantiles:
			count++
			return fields(value, func(number protowire.Number, raw, _ []byte) error {
				if number == fieldQuantile {
					_, _ = h.Write(raw)
				}
				return nil
			})
		case d.buckets[0], d.buckets[1]:
			return fields(value, func(_ protowire.Number, raw, value []byte) error {
				if value == nil { // where they begin
					_, _ = h.Write(raw)
				}
				for ; len(value) > 0; count++ {
					_, n := protowire.ConsumeVarint(value)
					if n < 0 {
						return protowire.ParseError(n)
					}
					value = value[n:]
				}
				return nil
			})
		}
		return nil
	})
	return h.Sum64(), count, err
}

func writeNumber(h *maphash.Hash, number uint64) {
	var bytes [8]byte
	binary.LittleEndian.PutUint64(bytes[:], number)
	_, _ = h.Write(bytes[:])
}
