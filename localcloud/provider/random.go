package provider

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// The character classes of random_password (terraform-provider-random,
// internal/random/string.go).
const (
	lowerClass   = "abcdefghijklmnopqrstuvwxyz"
	upperClass   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	numericClass = "0123456789"
	specialClass = "!@#$%&*()-_=+[]{}<>:?"
)

func pick(alphabet string) (byte, error) {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
	if err != nil {
		return 0, err
	}
	return alphabet[i.Int64()], nil
}

// characters makes a string by the inputs of RandomPassword and RandomString.
func characters(in map[string]any) (string, map[string]any, error) {
	classes := []struct{ use, min, alphabet string }{
		{"lower", "minLower", lowerClass}, {"upper", "minUpper", upperClass}, {"numeric", "minNumeric", numericClass}, {"special", "minSpecial", specialClass},
	}
	length, _ := in["length"].(float64)
	settled := map[string]any{}
	var out []byte
	all := ""
	for _, c := range classes {
		alphabet := c.alphabet
		if own, ok := in["overrideSpecial"].(string); ok && c.use == "special" {
			alphabet = own
		}
		use, set := in[c.use].(bool)
		if old, ok := in["number"].(bool); ok && c.use == "numeric" && !set { // deprecated spelling
			use, set = old, true
		}
		least, _ := in[c.min].(float64)
		settled[c.use], settled[c.min] = use || !set, int(least)
		if use || !set {
			all += alphabet
		}
		for range int(least) {
			b, err := pick(alphabet)
			if err != nil {
				return "", nil, err
			}
			out = append(out, b)
		}
	}
	settled["number"] = settled["numeric"]
	if all == "" {
		return "", nil, errors.New("every class of characters is switched off")
	}
	for len(out) < int(length) {
		b, err := pick(all)
		if err != nil {
			return "", nil, err
		}
		out = append(out, b)
	}
	err := shuffle(out)
	return string(out), settled, err
}

func shuffle(b []byte) error {
	for i := len(b) - 1; i > 0; i-- {
		j, err := rand.Int(rand.Reader, big.NewInt(int64(i+1)))
		if err != nil {
			return err
		}
		b[i], b[j.Int64()] = b[j.Int64()], b[i]
	}
	return nil
}

func randomPassword(r Request) (Result, error) {
	s, settled, err := characters(catalog.Plain(r.Inputs))
	if err != nil {
		return Result{}, fmt.Errorf("create password %s: %w", r.Name, err)
	}
	const bcryptMost = 72 // bytes that bcrypt looks at
	hash, err := bcrypt.GenerateFromPassword([]byte(s[:min(len(s), bcryptMost)]), bcrypt.DefaultCost)
	if err != nil {
		return Result{}, fmt.Errorf("create password %s: %w", r.Name, err)
	}
	settled["result"], settled["bcryptHash"] = s, string(hash)
	return made(r, "none", settled, "result", "bcryptHash"), nil
}

func randomString(r Request) (Result, error) {
	s, settled, err := characters(catalog.Plain(r.Inputs))
	if err != nil {
		return Result{}, fmt.Errorf("create string %s: %w", r.Name, err)
	}
	settled["result"] = s
	return made(r, s, settled), nil
}

func randomBytesOf(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := rand.Read(b)
	return b, err
}

func randomID(r Request) (Result, error) {
	in := catalog.Plain(r.Inputs)
	n, _ := in["byteLength"].(float64)
	prefix, _ := in["prefix"].(string)
	b, err := randomBytesOf(int(n))
	if err != nil {
		return Result{}, err
	}
	id := base64.RawURLEncoding.EncodeToString(b)
	return made(r, id, map[string]any{
		"hex": prefix + hex.EncodeToString(b), "dec": prefix + new(big.Int).SetBytes(b).String(),
		"b64Std": prefix + base64.StdEncoding.EncodeToString(b), "b64Url": prefix + id,
	}), nil
}

func randomBytes(r Request) (Result, error) {
	n, _ := catalog.Plain(r.Inputs)["length"].(float64)
	b, err := randomBytesOf(int(n))
	if err != nil {
		return Result{}, err
	}
	return made(r, "none", map[string]any{"hex": hex.EncodeToString(b), "base64": base64.StdEncoding.EncodeToString(b)}, "hex", "base64"), nil
}

func randomInteger(r Request) (Result, error) {
	in := catalog.Plain(r.Inputs)
	low, _ := in["min"].(float64)
	high, _ := in["max"].(float64)
	if high < low {
		return Result{}, fmt.Errorf("create integer %s: max %g is below min %g", r.Name, high, low)
	}
	n, err := rand.Int(rand.Reader, big.NewInt(int64(high-low)+1))
	if err != nil {
		return Result{}, err
	}
	result := n.Int64() + int64(low)
	return made(r, fmt.Sprint(result), map[string]any{"result": float64(result)}), nil
}

func randomUUID(r Request) (Result, error) {
	id, err := uuid.NewRandom()
	return made(r, id.String(), map[string]any{"result": id.String()}), err
}

// randomPet joins words: its id is its result.
func randomPet(r Request) (Result, error) {
	in := catalog.Plain(r.Inputs)
	words := []string{"amber", "brisk", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "juniper", "kestrel", "lumen", "maple", "nimbus", "otter", "prairie"}
	length, ok := in["length"].(float64)
	if !ok {
		length = 2
	}
	separator, ok := in["separator"].(string)
	if !ok {
		separator = "-"
	}
	id, _ := in["prefix"].(string)
	for range int(length) {
		i, err := rand.Int(rand.Reader, big.NewInt(int64(len(words))))
		if err != nil {
			return Result{}, err
		}
		if id != "" {
			id += separator
		}
		id += words[i.Int64()]
	}
	return made(r, id, map[string]any{"length": length, "separator": separator}), nil
}
