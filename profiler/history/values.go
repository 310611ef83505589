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
		at, err := parseTime(token.String())
		*m = Millis(at)
		return err
	default:
		return fmt.Errorf("time: must be a number or a string, is %s", token.Kind())
	}
	return nil
}

func parseTime(text string) (millis int64, err error) {
	at, err := time.Parse(timeLayout, text)
	if err != nil {
		return 0, fmt.Errorf("time %q: must be of the form %s", text, timeLayout)
	}
	return max(0, at.UnixMilli()), nil
}

// ofRows are how Spark writes some values of rows of package tables.
var ofRows = json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(timeOf), json.UnmarshalFromFunc(quantileOf)))

// timeOf reads an integer that is a string: a time.
func timeOf(d *jsontext.Decoder, millis *int64) error {
	if d.PeekKind() != '"' {
		return json.SkipFunc
	}
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	*millis, err = parseTime(token.String())
	return err
}

// quantileOf reads a value of a distribution. Spark writes a missing one as the string "NaN".
func quantileOf(d *jsontext.Decoder, q *float64) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '0':
		*q = token.Float()
	case '"':
		if *q, err = strconv.ParseFloat(token.String(), 64); err != nil {
			return fmt.Errorf("quantile %q: must be a number", token.String())
		}
	default:
		*q = math.NaN()
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
