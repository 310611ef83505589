package history

import (
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// timeLayout is the layout of JacksonMessageWriter.makeISODateFormat; GMT is literal text.
const timeLayout = "2006-01-02T15:04:05.000GMT"

// Millis is a time in milliseconds since 1970, UTC; 0 means none. Spark writes a missing
// time as -1, which is 1969-12-31T23:59:59.999GMT as text.
type Millis int64

// UnmarshalJSONFrom reads a number of milliseconds or Spark's string.
func (m *Millis) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case 'n':
		*m = 0
	case '0':
		*m = Millis(max(0, token.Int()))
	case '"':
		at, err := time.Parse(timeLayout, token.String())
		if err != nil {
			return fmt.Errorf("time %q: must be of the form %s", token.String(), timeLayout)
		}
		*m = Millis(max(0, at.UnixMilli()))
	default:
		return fmt.Errorf("time: must be a number or a string, is %s", token.Kind())
	}
	return nil
}

// Quantile is a value of a distribution. Spark writes a missing one as the string "NaN".
type Quantile float64

// UnmarshalJSONFrom reads a number or a string.
func (q *Quantile) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '0':
		*q = Quantile(token.Float())
	case '"':
		value, err := strconv.ParseFloat(token.String(), 64)
		if err != nil {
			return fmt.Errorf("quantile %q: must be a number", token.String())
		}
		*q = Quantile(value)
	default:
		*q = Quantile(math.NaN())
	}
	return nil
}

// Length is the length, in characters, of a text that is not kept.
type Length int64

// UnmarshalJSONFrom counts the characters.
func (l *Length) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	*l = 0
	if token.Kind() == '"' {
		*l = Length(utf8.RuneCountInString(token.String()))
	}
	return nil
}

// Properties are names and values, in Spark's order. Spark writes them as pairs.
type Properties []Property

// Property is a name and its value.
type Property struct{ Name, Value string }

// UnmarshalJSONFrom reads a pair.
func (p *Property) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var pair []string
	if err := json.UnmarshalDecode(d, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("property with %d parts: must be a name and a value", len(pair))
	}
	p.Name, p.Value = pair[0], pair[1]
	return nil
}
