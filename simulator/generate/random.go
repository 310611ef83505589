package generate

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/big"

	"golang.org/x/crypto/bcrypt"
)

// characterClass is one class of a random string: the inputs that enable it
// and set its minimum, and its characters.
type characterClass struct{ enable, minimum, alphabet string }

// characterClasses returns the character classes of terraform-provider-random
// (internal/random/string.go).
func characterClasses(in map[string]any) []characterClass {
	special := "!@#$%&*()-_=+[]{}<>:?"
	if override, ok := in["overrideSpecial"].(string); ok {
		special = override
	}
	return []characterClass{
		{"lower", "minLower", "abcdefghijklmnopqrstuvwxyz"},
		{"upper", "minUpper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
		{"numeric", "minNumeric", "0123456789"},
		{"special", "minSpecial", special},
	}
}

// enabled reports whether the inputs allow the class: all are, unless switched
// off.
func (c characterClass) enabled(in map[string]any) bool {
	if on, set := in[c.enable].(bool); set {
		return on
	}
	if on, set := in["number"].(bool); set && c.enable == "numeric" { // its deprecated name
		return on
	}
	return true
}

// randomCharacters generates the string that the inputs of RandomPassword describe.
// settings are those inputs with their defaults.
func randomCharacters(in map[string]any) (s string, settings map[string]any, err error) {
	length, _ := in["length"].(float64)
	settings = map[string]any{}
	var out []byte
	alphabet := ""
	for _, c := range characterClasses(in) {
		minimum, _ := in[c.minimum].(float64)
		settings[c.enable], settings[c.minimum] = c.enabled(in), int(minimum)
		if c.enabled(in) {
			alphabet += c.alphabet
		}
		if out, err = appendRandom(out, c.alphabet, int(minimum)); err != nil {
			return "", nil, err
		}
	}
	settings["number"] = settings["numeric"]
	if alphabet == "" {
		return "", nil, errors.New("all character classes are disabled")
	}
	if out, err = appendRandom(out, alphabet, int(length)-len(out)); err != nil {
		return "", nil, err
	}
	err = shuffle(out)
	return string(out), settings, err
}

func appendRandom(out []byte, alphabet string, n int) ([]byte, error) {
	for range n {
		i, err := randomIndex(len(alphabet))
		if err != nil {
			return nil, err
		}
		out = append(out, alphabet[i])
	}
	return out, nil
}

func randomIndex(n int) (int, error) {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		return 0, err
	}
	return int(i.Int64()), nil
}

func shuffle(b []byte) error {
	for i := len(b) - 1; i > 0; i-- {
		j, err := randomIndex(i + 1)
		if err != nil {
			return err
		}
		b[i], b[j] = b[j], b[i]
	}
	return nil
}

func randomPassword(in map[string]any) (generated, error) {
	s, values, err := randomCharacters(in)
	if err != nil {
		return generated{}, err
	}
	const bcryptLimit = 72 // bytes; bcrypt refuses more
	hash, err := bcrypt.GenerateFromPassword([]byte(s[:min(len(s), bcryptLimit)]), bcrypt.DefaultCost)
	if err != nil {
		return generated{}, err
	}
	values["result"], values["bcryptHash"] = s, string(hash)
	return generated{id: "none", values: values, secrets: []string{"result", "bcryptHash"}}, nil
}

func randomID(in map[string]any) (generated, error) {
	n, _ := in["byteLength"].(float64)
	b := make([]byte, int(n))
	if _, err := rand.Read(b); err != nil {
		return generated{}, err
	}
	id, prefix := base64.RawURLEncoding.EncodeToString(b), text(in, "prefix")
	return generated{id: id, values: map[string]any{
		"hex": prefix + hex.EncodeToString(b), "dec": prefix + new(big.Int).SetBytes(b).String(),
		"b64Std": prefix + base64.StdEncoding.EncodeToString(b), "b64Url": prefix + id,
	}}, nil
}
