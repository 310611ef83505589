package fold_test

import (
	"fmt"
	"os"
	"testing"
)

func TestDump(t *testing.T) {
	all, s := foldLog(t, os.Getenv("DIR"), os.Getenv("LOG"))
	for name, r := range all {
		if name == "environments" { continue }
		for _, x := range r { fmt.Println(name, x) }
	}
	fmt.Println(missing(s), s.Final, s.Rows)
}
