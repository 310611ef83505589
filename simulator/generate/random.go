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
		out = appendRandom(out, c.alphabet, int(minimum))
	}
	settings["number"] = settings["numeric"]
	if alphabet == "" {
		return "", nil, errors.New("all character classes are disabled")
	}
	out = appendRandom(out, alphabet, int(length)-len(out))
	for i := len(out) - 1; i > 0; i-- {
		j := randomIndex(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return string(out), settings, nil
}

func appendRandom(out []byte, alphabet string, n int) []byte {
	for range n {
		out = append(out, alphabet[randomIndex(len(alphabet))])
	}
	return out
}

// randomIndex returns a number below n. crypto/rand never fails on the platforms that Go
// supports.
func randomIndex(n int) int {
	i, _ := rand.Int(rand.Reader, big.NewInt(int64(n)))
	return int(i.Int64())
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
