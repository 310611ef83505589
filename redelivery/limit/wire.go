package limit

import "google.golang.org/protobuf/encoding/protowire"

// fields calls visit with the number and the bytes of each field of a message, and with its content if
// that has a length: a string, a message, packed numbers.
func fields(message []byte, visit func(number protowire.Number, raw, value []byte) error) error {
	for len(message) > 0 {
		number, value, size, err := field(message)
		if err != nil {
			return err
		}
		if err := visit(number, message[:size], value); err != nil {
			return err
		}
		message = message[size:]
	}
	return nil
}

// each calls visit with the number and the content of each field whose content has a length.
func each(message []byte, visit func(number protowire.Number, value []byte) error) error {
	return fields(message, func(number protowire.Number, _, value []byte) error {
		if value == nil {
			return nil
		}
		return visit(number, value)
	})
}

// edit returns a message with what change returns in place of each value of a field: the value
// itself, a shorter one, or nil for none. If all stay it returns the message itself, without a copy.
func edit(message []byte, number protowire.Number, change func(value []byte) ([]byte, error)) ([]byte, error) {
	var edited []byte
	at, copied := 0, 0
	err := fields(message, func(found protowire.Number, raw, value []byte) error {
		begin := at
		at += len(raw)
		if found != number || value == nil {
			return nil
		}
		with, err := change(value)
		if err != nil || with != nil && len(with) == len(value) {
			return err
		}
		if edited == nil {
			edited = make([]byte, 0, len(message))
		}
		edited = append(edited, message[copied:begin]...)
		if with != nil {
			edited = protowire.AppendBytes(protowire.AppendTag(edited, number, protowire.BytesType), with)
		}
		copied = at
		return nil
	})
	if err != nil || edited == nil {
		return message, err
	}
	return append(edited, message[copied:]...), nil
}

// field returns the first field of a message with its size, and its content if that has a length.
func field(message []byte) (number protowire.Number, value []byte, size int, err error) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return 0, nil, 0, protowire.ParseError(tag)
	}
	size = protowire.ConsumeFieldValue(number, kind, message[tag:])
	if size < 0 {
		return 0, nil, 0, protowire.ParseError(size)
	}
	if kind == protowire.BytesType {
		value, _ = protowire.ConsumeBytes(message[tag:])
	}
	return number, value, tag + size, nil
}
